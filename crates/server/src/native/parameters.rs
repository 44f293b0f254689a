//! The parameters of a statement: consistency level, values, paging.

use super::error::NativeError;
use base::compat::features::ConsistencyLevel;
use base::model::BoundValue;
use cql::QueryOptions;
use wire::native::{BodyReader, ProtocolVersion, parameter_flag};

/// The parameters of a QUERY, EXECUTE or BATCH.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    pub options: QueryOptions,
    /// The client knows the columns of the result and wants no metadata.
    pub skips_metadata: bool,
    /// A keyspace instead of the connection's (version 5).
    pub keyspace: Option<String>,
}

impl Parameters {
    fn new(consistency: ConsistencyLevel, version: ProtocolVersion) -> Parameters {
        let options = QueryOptions {
            consistency,
            collection_form: version.collection_form(),
            has_conditions: version > ProtocolVersion::V1,
            ..QueryOptions::default()
        };
        Parameters { options, ..Parameters::default() }
    }

    /// Reads the parameters of a QUERY, or from version 2 on of an EXECUTE.
    pub(super) fn of_query(body: &mut BodyReader) -> Result<Parameters, NativeError> {
        let mut parameters = Parameters::new(body.consistency()?, body.version);
        if body.version < ProtocolVersion::V2 {
            return Ok(parameters);
        }
        let flags = flags(body)?;
        if flags & parameter_flag::VALUES != 0 {
            parameters.read_values(body, flags & parameter_flag::NAMES != 0)?;
        }
        parameters.skips_metadata = flags & parameter_flag::SKIP_METADATA != 0;
        if flags & parameter_flag::PAGE_SIZE != 0 {
            // A size of 0 or less means no paging.
            let size = body.i32()?;
            parameters.options.page_size = usize::try_from(size).ok().filter(|size| *size > 0);
        }
        if flags & parameter_flag::PAGING_STATE != 0 {
            parameters.options.paging_state = body.bytes()?.filter(|state| !state.is_empty());
        }
        parameters.read_rest(body, flags)?;
        Ok(parameters)
    }

    /// Reads the parameters of an EXECUTE of version 1: values, then the level.
    pub(super) fn of_old_execute(body: &mut BodyReader) -> Result<Parameters, NativeError> {
        let count = body.u16()?;
        let values = (0..count).map(|_| body.value()).collect::<Result<_, _>>()?;
        let mut parameters = Parameters::new(body.consistency()?, body.version);
        parameters.options.values = values;
        Ok(parameters)
    }

    /// Reads the parameters of a BATCH. Its values are with its statements.
    pub(super) fn of_batch(body: &mut BodyReader) -> Result<Parameters, NativeError> {
        let mut parameters = Parameters::new(body.consistency()?, body.version);
        if body.version < ProtocolVersion::V3 {
            return Ok(parameters);
        }
        let flags = flags(body)?;
        if flags & parameter_flag::NAMES != 0 {
            // The names would be needed before the values, which have been read already.
            return Err(NativeError::protocol("values by name are not possible in a BATCH"));
        }
        parameters.read_rest(body, flags)?;
        Ok(parameters)
    }

    fn read_values(&mut self, body: &mut BodyReader, has_names: bool) -> Result<(), NativeError> {
        let count = body.u16()?;
        let mut names: Vec<String> = Vec::new();
        let mut values: Vec<BoundValue> = Vec::new();
        for _ in 0..count {
            if has_names {
                names.push(body.string()?);
            }
            values.push(body.value()?);
        }
        self.options.values = values;
        self.options.names = names;
        Ok(())
    }

    /// Reads the last parameters, which all kinds of requests have.
    fn read_rest(&mut self, body: &mut BodyReader, flags: u32) -> Result<(), NativeError> {
        if flags & parameter_flag::SERIAL_CONSISTENCY != 0 {
            self.options.serial_consistency = body.consistency()?;
        }
        if flags & parameter_flag::TIMESTAMP != 0 {
            let timestamp = body.i64()?;
            if timestamp == i64::MIN {
                return Err(NativeError::protocol(format!(
                    "Out of bound timestamp, must be in [{}, {}] (got {timestamp})",
                    i64::MIN + 1,
                    i64::MAX
                )));
            }
            self.options.timestamp = Some(timestamp);
        }
        if flags & parameter_flag::KEYSPACE != 0 && body.version >= ProtocolVersion::V5 {
            self.keyspace = Some(body.string()?);
        }
        if flags & parameter_flag::NOW_IN_SECONDS != 0 && body.version >= ProtocolVersion::V5 {
            // Drivers use it for tests of servers. It is ignored, because this server has one clock.
            body.i32()?;
        }
        Ok(())
    }
}

fn flags(body: &mut BodyReader) -> Result<u32, NativeError> {
    Ok(if body.version >= ProtocolVersion::V5 { body.u32()? } else { u32::from(body.u8()?) })
}
