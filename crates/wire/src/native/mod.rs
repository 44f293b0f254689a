//! Frames of the CQL native protocol, the segments around frames of version 5, and the data types in their bodies.

mod body_error;
mod body_flag;
mod body_reader;
mod body_writer;
mod compression;
mod consistency;
mod frame;
mod opcode;
mod segment;
mod version;

pub use body_error::BodyError;
pub use body_flag::{metadata_flag, parameter_flag};
pub use body_reader::BodyReader;
pub use body_writer::BodyWriter;
pub use compression::Compression;
pub use consistency::{consistency_code, consistency_of};
pub use frame::{Frame, FrameCutter, NativeFrameError, NextFrame, flag, write_frame};
pub use opcode::{RequestCode, ResponseCode, UNREADABLE, request_opcode};
pub use segment::{PAYLOAD_BYTES_MAX as SEGMENT_PAYLOAD_MAX, SegmentCodec, SegmentError};
pub use version::ProtocolVersion;
