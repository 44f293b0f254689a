//! `POST /load`: loads a script of CQL or of cassandra-cli, or rows as JSON.

use std::sync::Arc;

use bytes::Bytes;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

use super::call::{BodyKind, ControlCall, Input};
use super::cassandra_cli;
use super::content::JSON;
use super::error::ControlError;
use super::json::{Json, Replied};
use super::operations::Control;
use crate::control::Result;
use base::compat::features::ConsistencyLevel;
use base::model::Mutation;
use base::util::meter::RequestLimits;
use db::Database;
use json_rows::{JsonData, LoadTime, RowOrigin};

const CQL: &str = "text/x-cql";
const CASSANDRA_CLI: &str = "text/x-cassandra-cli";
const EXAMPLE: &str = "CREATE KEYSPACE IF NOT EXISTS example WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};";

const CLI_EXAMPLE: &str = "use Keyspace1; set Standard1['ada']['email'] = 'ada@example.com' with ttl = 60;";

/// Data to load.
#[derive(Debug)]
pub enum LoadBody {
    /// A script of CQL.
    Cql(String),
    /// A script of cassandra-cli.
    CassandraCli(String),
    /// Rows of column families that are defined.
    Json(JsonData),
}

/// The amount of loaded data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadReply {
    /// The number of statements that were run.
    pub statements: usize,
    /// The number of rows that were written by JSON.
    pub rows: usize,
}

impl LoadBody {
    /// Reads a script or JSON from a file's bytes, according to the end of its name.
    pub fn of_file(name: &str, bytes: Vec<u8>) -> Result<LoadBody> {
        let kind = LoadBody::content_type(name)?;
        LoadBody::read(bytes.into(), Some(kind))
    }

    /// Returns the content type of a file.
    pub fn content_type(name: &str) -> Result<&'static str> {
        match name.rsplit_once('.') {
            Some((_, "cql")) => Ok(CQL),
            Some((_, "cli" | "txt")) => Ok(CASSANDRA_CLI),
            Some((_, "json")) => Ok(JSON),
            _ => Err(ControlError::invalid(format!(
                "the name {name} must end with .cql (a script of CQL), .cli or .txt (a script of cassandra-cli), or .json (rows)"
            ))),
        }
    }
}

impl Input for LoadBody {
    fn read(body: Bytes, content_type: Option<&str>) -> Result<LoadBody> {
        match content_type {
            Some(JSON) => Ok(LoadBody::Json(Json::<JsonData>::read(body, content_type)?.0)),
            Some(CQL) => script_of(body).map(LoadBody::Cql),
            Some(CASSANDRA_CLI) => script_of(body).map(LoadBody::CassandraCli),
            other => Err(ControlError::invalid(format!(
                "the content type is {}: set the header Content-Type to {CQL} for a script of CQL, to \
                 {CASSANDRA_CLI} for one of cassandra-cli, or to {JSON} for rows",
                other.unwrap_or("missing")
            ))),
        }
    }

    fn described(generator: &mut SchemaGenerator) -> Vec<BodyKind> {
        let rows = json!({"column_families": [{"keyspace": "Keyspace1", "name": "Standard1", "rows": [
            {"key": "ada", "cells": [{"name": "email", "value": "ada@example.com", "timestamp": 1}]},
        ]}]});
        vec![
            BodyKind {
                content_type: CQL,
                schema: generator.subschema_for::<String>(),
                example: Some(EXAMPLE.into()),
            },
            BodyKind {
                content_type: CASSANDRA_CLI,
                schema: generator.subschema_for::<String>(),
                example: Some(CLI_EXAMPLE.into()),
            },
            BodyKind {
                content_type: JSON,
                schema: generator.subschema_for::<JsonData>(),
                example: Some(rows),
            },
        ]
    }
}

fn script_of(body: Bytes) -> Result<String> {
    String::from_utf8(body.into()).map_err(|_| ControlError::invalid("the script is not UTF-8"))
}

/// Loads data with all rights, as one request: no reset and no restore comes in between. Data that was loaded before an
/// error stays.
pub async fn load(database: &Arc<Database>, limits: &RequestLimits, body: &LoadBody) -> Result<LoadReply> {
    match body {
        LoadBody::Cql(script) => database.metered(limits, Box::pin(load_cql(database, script))).await,
        LoadBody::CassandraCli(script) => {
            database.metered(limits, Box::pin(load_cli(database, script))).await
        }
        LoadBody::Json(data) => database.metered(limits, Box::pin(load_json(database, data))).await,
    }
}

async fn load_cql(database: &Arc<Database>, script: &str) -> Result<LoadReply> {
    let outcome = cql::run_script_of_operator(database, script).await;
    let outcome = outcome.map_err(|error| ControlError::invalid(error.to_string()))?;
    Ok(LoadReply { statements: outcome.statements, rows: 0 })
}

async fn load_cli(database: &Arc<Database>, script: &str) -> Result<LoadReply> {
    let outcome = cassandra_cli::run_script(database, None, script).await;
    let outcome = outcome.map_err(|error| ControlError::invalid(error.to_string()))?;
    Ok(LoadReply { statements: outcome.statements, rows: 0 })
}

async fn load_json(database: &Arc<Database>, data: &JsonData) -> Result<LoadReply> {
    let now = RowOrigin::Written(LoadTime { micros: database.next_micros(), now_s: database.now_s() });
    // Everything is checked before the first row is written.
    let mut mutations = Vec::new();
    for family in &data.column_families {
        let (keyspace, name) = (&family.keyspace, &family.name);
        let cf = database.catalog().column_family(keyspace, name).cloned();
        let cf = cf.ok_or_else(|| {
            ControlError::invalid(format!(
                "there is no column family {keyspace}.{name}: load its definition first, with a script of CQL"
            ))
        })?;
        for row in &family.rows {
            let (key, changes) = row
                .changes(&cf, now)
                .map_err(|error| ControlError::invalid(format!("{keyspace}.{name}: {error}")))?;
            mutations.push(Mutation::of(key, cf.clone(), changes));
        }
    }
    let rows = mutations.len();
    for mutation in mutations {
        database.restore().write(vec![mutation], ConsistencyLevel::One).await?;
    }
    Ok(LoadReply { statements: 0, rows })
}

/// Answers `POST /load`.
pub(super) async fn answer(call: ControlCall<LoadBody>) -> Replied<LoadReply> {
    call.control.load(&call.body).await.map(Json)
}

impl Control {
    /// Loads data with all rights.
    pub async fn load(&self, body: &LoadBody) -> Result<LoadReply> {
        load(&self.database, &self.requests, body).await
    }
}
