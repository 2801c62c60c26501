//! A harness in Rust for the conformance suite: conformance/PROTOCOL.md.
//!
//!     rustc --edition 2021 -O -o harness top_n_sigma.rs
//!
//! The sampler comes first and knows nothing of the protocol. To check an engine, replace
//! `accepts` and `top_n_sigma` by calls of it, and the claims in `CLAIMS` by its own.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

const CLAIMS: &str =
    r#"{"type":"hello","protocol":1,"name":"top_n_sigma.rs","version":"1.0","extreme":true}"#;

fn accepts(n: f64) -> bool {
    n > 0.0 && n.is_finite()
}

/// One row, in place; `n` is one that [`accepts`] accepts.
fn top_n_sigma(row: &mut [f32], n: f64) {
    let Some(first) = row.first().copied() else {
        return;
    };
    if row.iter().any(|x| !x.is_finite()) || row.iter().all(|&x| x == first) {
        return;
    }
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let moments = row
        .chunks(Moments::TILE)
        .map(Moments::of)
        .reduce(Moments::merge)
        .expect("a row that is not empty");
    let threshold = f64::from(max) - n * moments.deviation();
    for x in row.iter_mut().filter(|x| f64::from(**x) < threshold) {
        *x = f32::NEG_INFINITY;
    }
}

/// Count, mean and sum of squared deviations of some logits.
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    const TILE: usize = 1024;

    fn of(tile: &[f32]) -> Self {
        let count = tile.len() as f64;
        let mean = tile.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
        let squares = tile.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
        Moments {
            count,
            mean,
            squares,
        }
    }

    /// Chan, Golub and LeVeque's update: no cancellation, whatever the means are.
    fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        Moments {
            count,
            mean: self.mean + distance * (other.count / count),
            squares: self.squares
                + other.squares
                + distance.powi(2) * (self.count * other.count / count),
        }
    }

    fn deviation(&self) -> f64 {
        (self.squares / (self.count - 1.0)).sqrt()
    }
}

// What follows is the protocol; for another sampler nothing in it has to change.

fn main() -> ExitCode {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answered = line
            .map_err(|error| error.to_string())
            .and_then(|line| answer(&Json::parse(&line)?))
            .and_then(|answer| {
                writeln!(output, "{answer}")
                    .and_then(|()| output.flush())
                    .map_err(|error| error.to_string())
            });
        if let Err(error) = answered {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn answer(message: &Json) -> Result<String, String> {
    match message.get("type")?.text()? {
        "hello" if message.get("protocol")?.number::<u32>()? == 1 => Ok(CLAIMS.to_owned()),
        "hello" => Err("this harness speaks protocol 1".to_owned()),
        "apply" => {
            let id = message.get("id")?.number::<u64>()?;
            Ok(match apply(message)? {
                Ok(logits) => format!(r#"{{"type":"result","id":{id},"logits":"{logits}"}}"#),
                Err(rejection) => {
                    let message = Json::String(rejection.into());
                    format!(r#"{{"type":"rejected","id":{id},"message":{message}}}"#)
                }
            })
        }
        other => Err(format!("unknown type of message: {other}")),
    }
}

/// The logits in base64, or a rejection; the outer error is a message that breaks the protocol.
fn apply(message: &Json) -> Result<Result<String, String>, String> {
    let (rows, tokens) = (
        message.get("rows")?.number()?,
        message.get("tokens")?.number()?,
    );
    let bytes = base64::decode(message.get("logits")?.text()?).ok_or("logits are not base64")?;
    let entries = message.get("n")?.items()?;
    if message.get("dtype")?.text()? != "float32" {
        return Err("dtype is none of those claimed".to_owned());
    }
    if entries.len() != rows || bytes.len() != rows * tokens * 4 {
        return Err("n or logits have another length than rows and tokens say".to_owned());
    }
    // Before any logit is changed (TNS-1).
    let n = match entries.iter().map(parse_n).collect::<Result<Vec<_>, _>>() {
        Ok(n) => n,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let mut logits: Vec<f32> = bytes
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
        .collect();
    for (row, n) in logits.chunks_mut(tokens).zip(n) {
        if let Some(n) = n {
            top_n_sigma(row, n);
        }
    }
    let bytes: Vec<u8> = logits.iter().flat_map(|x| x.to_le_bytes()).collect();
    Ok(Ok(base64::encode(&bytes)))
}

fn parse_n(entry: &Json) -> Result<Option<f64>, String> {
    let (number, shown) = match entry {
        Json::Null => return Ok(None),
        Json::Number(text) => (text.parse().unwrap_or(f64::NAN), (*text).to_owned()),
        Json::Object(_) => match entry.get("invalid").and_then(Json::text) {
            Ok(name) => (name.parse().unwrap_or(f64::NAN), name.to_owned()),
            Err(_) => (f64::NAN, entry.to_string()),
        },
        other => (f64::NAN, other.to_string()),
    };
    if accepts(number) {
        return Ok(Some(number));
    }
    let shown: String = shown.chars().take(80).collect();
    Err(format!("n must be a finite number > 0; got {shown}"))
}

/// A JSON value. Numbers stay as they are written, strings borrow what they can.
enum Json<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    fn parse(line: &'a str) -> Result<Self, String> {
        let mut parser = Parser { rest: line };
        let value = parser.value()?;
        parser.skip_space();
        if parser.rest.is_empty() {
            Ok(value)
        } else {
            Err(parser.unexpected())
        }
    }

    fn get(&self, name: &str) -> Result<&Json<'a>, String> {
        let Json::Object(members) = self else {
            return Err(format!("not an object: {self}"));
        };
        let member = members.iter().find(|(key, _)| key == name);
        member
            .map(|(_, value)| value)
            .ok_or_else(|| format!("no member {name}"))
    }

    fn text(&self) -> Result<&str, String> {
        if let Json::String(text) = self {
            Ok(text)
        } else {
            Err(format!("not a string: {self}"))
        }
    }

    fn items(&self) -> Result<&[Json<'a>], String> {
        if let Json::Array(items) = self {
            Ok(items)
        } else {
            Err(format!("not an array: {self}"))
        }
    }

    fn number<T: std::str::FromStr>(&self) -> Result<T, String> {
        match self {
            Json::Number(text) => text.parse().ok(),
            _ => None,
        }
        .ok_or_else(|| format!("not a number of the right kind: {self}"))
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(text) => f.write_str(text),
            Json::String(text) => {
                f.write_str("\"")?;
                for c in text.chars() {
                    match c {
                        '"' | '\\' => write!(f, "\\{c}")?,
                        c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
                        c => write!(f, "{c}")?,
                    }
                }
                f.write_str("\"")
            }
            Json::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (name, value)) in members.iter().enumerate() {
                    let name = Json::String(Cow::Borrowed(name));
                    write!(f, "{}{name}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    /// Whether `token` comes next, white space aside; if so it is taken.
    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn unexpected(&self) -> String {
        let next: String = self.rest.chars().take(20).collect();
        format!("not JSON: unexpected {next:?}")
    }

    fn value(&mut self) -> Result<Json<'a>, String> {
        if self.take("null") {
            Ok(Json::Null)
        } else if self.take("true") {
            Ok(Json::Bool(true))
        } else if self.take("false") {
            Ok(Json::Bool(false))
        } else if self.take("\"") {
            self.string().map(Json::String)
        } else if self.take("[") {
            self.list("]", Self::value).map(Json::Array)
        } else if self.take("{") {
            self.list("}", Self::member).map(Json::Object)
        } else {
            self.number()
        }
    }

    fn list<T>(
        &mut self,
        end: &str,
        item: fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        if self.take(end) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(end) {
                return Ok(items);
            }
            if !self.take(",") {
                return Err(self.unexpected());
            }
        }
    }

    fn member(&mut self) -> Result<(Cow<'a, str>, Json<'a>), String> {
        if !self.take("\"") {
            return Err(self.unexpected());
        }
        let name = self.string()?;
        if !self.take(":") {
            return Err(self.unexpected());
        }
        Ok((name, self.value()?))
    }

    fn number(&mut self) -> Result<Json<'a>, String> {
        let part_of_it = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let end = self
            .rest
            .find(|c| !part_of_it(c))
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        if text.parse::<f64>().is_err() {
            return Err(self.unexpected());
        }
        self.rest = rest;
        Ok(Json::Number(text))
    }

    /// The rest of a string whose opening quote has been taken.
    fn string(&mut self) -> Result<Cow<'a, str>, String> {
        let mut text = Cow::Borrowed("");
        loop {
            let end = self
                .rest
                .find(['"', '\\'])
                .ok_or_else(|| self.unexpected())?;
            let (plain, rest) = self.rest.split_at(end);
            text += plain;
            let escaped = rest.starts_with('\\');
            self.rest = &rest[1..];
            if !escaped {
                return Ok(text);
            }
            text.to_mut().push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let letter = self.rest.chars().next().ok_or_else(|| self.unexpected())?;
        self.rest = &self.rest[letter.len_utf8()..];
        Ok(match letter {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let mut units = vec![self.code_unit()?];
                if (0xD800..0xDC00).contains(&units[0]) && self.rest.starts_with("\\u") {
                    self.rest = &self.rest[2..];
                    units.push(self.code_unit()?);
                }
                let decoded = char::decode_utf16(units).next();
                decoded
                    .and_then(Result::ok)
                    .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        })
    }

    fn code_unit(&mut self) -> Result<u16, String> {
        let digits = self.rest.get(..4).ok_or_else(|| self.unexpected())?;
        let unit = u16::from_str_radix(digits, 16).map_err(|_| self.unexpected())?;
        self.rest = &self.rest[4..];
        Ok(unit)
    }
}

/// RFC 4648, padded.
mod base64 {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    pub fn encode(bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
            let group = byte(0) << 16 | byte(1) << 8 | byte(2);
            for i in 0..4 {
                let digit = ALPHABET[(group >> (18 - 6 * i) & 63) as usize];
                text.push(if i <= chunk.len() {
                    char::from(digit)
                } else {
                    '='
                });
            }
        }
        text
    }

    pub fn decode(text: &str) -> Option<Vec<u8>> {
        let mut values = [None; 256];
        for (value, &digit) in (0u32..).zip(ALPHABET) {
            values[usize::from(digit)] = Some(value);
        }
        if text.len() % 4 != 0 {
            return None;
        }
        let digits = text.trim_end_matches('=');
        if text.len() - digits.len() > 2 {
            return None;
        }
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
        for chunk in digits.as_bytes().chunks(4) {
            let mut group = 0;
            for &digit in chunk {
                group = group << 6 | values[usize::from(digit)]?;
            }
            group <<= 6 * (4 - chunk.len());
            bytes.extend_from_slice(&group.to_be_bytes()[1..chunk.len()]);
        }
        Some(bytes)
    }
}
