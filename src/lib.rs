//! thriftstore
