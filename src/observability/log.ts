/**
 * Structured log lines of events and requests: JSON, or text for a terminal. A line is one line whatever a stranger sends,
 * and holds no secret, no stack trace and nothing that someone typed as a user name, which may be a password
 * (`log_test.ts`).
 *
 * @module
 */
import type { TrivetEvent } from "../events.ts";
import { checkNames, type Names } from "../options/option_check.ts";
import type { RequestOutcome } from "./request_outcome.ts";

/** From the most to the least important. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
/** The importance of a line. */
export type LogLevel = typeof LOG_LEVELS[number];
/** `json` for programs, `text` for a terminal. */
export type LogFormat = "json" | "text";

/** Options of a log. */
export interface LogOptions {
  /** Lines below this level are not written. @default "info" */
  readonly level?: LogLevel;
  /** @default "json" */
  readonly format?: LogFormat;
  /** The level of requests with a status below 500; those above are errors. @default "debug" */
  readonly requestLevel?: LogLevel;
  /** Writes a line, without its line end. */
  write(line: string): void;
  /** Milliseconds since the epoch. @default Date.now */
  now?(): number;
}

const NAMES: Names<LogOptions> = {
  level: "unknown",
  format: "unknown",
  requestLevel: "unknown",
  write: "function",
  now: "function",
};

/** Values of a line. Members without a value are left out. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes lines about events and requests. */
export interface Log {
  /**
   * @param request the id of the request in which it happened
   * @param time when it happened, in milliseconds since the epoch. @default now
   */
  event(event: TrivetEvent, request?: string, time?: number): void;
  request(outcome: RequestOutcome): void;
  /** Anything else, such as that the server starts. `name` is a word for programs, such as `started`. */
  line(level: LogLevel, name: string, fields?: LogFields): void;
}

/** Levels of events. Those that are not named are `info`. */
const EVENT_LEVELS: { readonly [Type in TrivetEvent["type"]]?: LogLevel } = {
  fault: "error",
  store_unavailable: "error",
  issuer_unavailable: "error",
  login_failed: "warn",
  sign_in_failed: "warn",
  client_refused: "warn",
  code_replayed: "warn",
  refresh_replayed: "warn",
  logout_not_delivered: "warn",
  mail_failed: "warn",
  skill_refused: "warn",
  rate_limited: "warn",
  token_refused: "warn",
  tool_held: "warn",
  skill_disclosed: "debug",
};

const MAX_VALUE_CHARACTERS = 500;

/** Makes a log. @throws {TypeError} for an option that does not exist */
export function createLog(options: LogOptions): Log {
  checkNames("createLog", options, NAMES);
  const { level = "info", format = "json", requestLevel = "debug", write, now = Date.now } = options;
  const most = LOG_LEVELS.indexOf(level);
  const isWritten = (each: LogLevel): boolean => LOG_LEVELS.indexOf(each) <= most;
  const writesRequests = isWritten(requestLevel);
  const toLine = format === "json" ? toJsonLine : toTextLine;
  const line: Log["line"] = (each, name, fields = {}) => {
    if (isWritten(each)) write(toLine(now(), each, name, fields));
  };
  return {
    event(event, request, time = now()) {
      const each = EVENT_LEVELS[event.type] ?? "info";
      if (!isWritten(each)) return;
      write(
        format === "json"
          ? toJsonEventLine(time, each, event, request)
          : toTextLine(time, each, event.type, { ...describeEvent(event), request }),
      );
    },
    request({ id, method, path, status, milliseconds, ip, trace }) {
      if (status < 500 && !writesRequests) return;
      const ms = Math.round(milliseconds * 10) / 10;
      line(status < 500 ? requestLevel : "error", "request", {
        method,
        path,
        status,
        ms,
        ip,
        trace,
        request: id,
      });
    },
    line,
  };
}

/** The members of an event that may be kept: its error without the stack, and no name that was typed. */
export function describeEvent(event: TrivetEvent): LogFields {
  const fields: Record<string, string | number | boolean> = {};
  for (const name in event) {
    const value: unknown = event[name as keyof TrivetEvent];
    if (name === "type" || name === "username" || value === undefined) continue;
    if (name === "error") fields["error"] = describeError(value);
    else if (typeof value === "number" || typeof value === "boolean") fields[name] = value;
    else fields[name] = cut(String(value));
  }
  return fields;
}

let lastEvent: TrivetEvent | undefined;
let lastJson = "";

/** {@linkcode describeEvent} as JSON. The log and the audit trail ask for the same event one after the other. */
export function describeEventJson(event: TrivetEvent): string {
  if (event !== lastEvent) {
    lastJson = writeMembers(event);
    lastEvent = event;
  }
  return lastJson;
}

/** Without an object in between, which takes twice as long. */
function writeMembers(event: TrivetEvent): string {
  let text = "";
  for (const name in event) {
    const value: unknown = event[name as keyof TrivetEvent];
    if (name === "type" || name === "username" || value === undefined) continue;
    const shown = name === "error"
      ? JSON.stringify(describeError(value))
      : typeof value === "boolean" || Number.isFinite(value)
      ? String(value)
      : JSON.stringify(typeof value === "number" ? null : cut(String(value)));
    text += `${text && ","}"${name}":${shown}`;
  }
  return `{${text}}`;
}

/** The name and the message of an error, and those of its causes. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let each = error; each !== undefined && parts.length < 4; each = (each as Error).cause) {
    if (!(each instanceof Error)) {
      parts.push(String(each));
      break;
    }
    parts.push(each.message === "" ? each.name : `${each.name}: ${each.message}`);
  }
  return cut(parts.join("; caused by "));
}

/** Half of a surrogate pair, also one that is cut, becomes U+FFFD: strict JSON parsers refuse the whole line. */
function cut(text: string): string {
  const short = text.length <= MAX_VALUE_CHARACTERS ? text : text.slice(0, MAX_VALUE_CHARACTERS - 1) + "…";
  return short.toWellFormed();
}

let lastTime = NaN;
let lastIsoTime = "";

/** Lines often share their millisecond. */
function toIsoTime(time: number): string {
  if (time !== lastTime) {
    lastTime = time;
    lastIsoTime = new Date(time).toISOString();
  }
  return lastIsoTime;
}

function toJsonLine(time: number, level: LogLevel, name: string, fields: LogFields): string {
  const line = JSON.stringify(
    { time: toIsoTime(time), level, event: name, ...fields },
    (_, value) => typeof value === "string" ? value.toWellFormed() : value,
  );
  return escapeLineEnds(line);
}

/** As {@linkcode toJsonLine}, put together from parts: every request of a client can be an event. */
function toJsonEventLine(time: number, level: LogLevel, event: TrivetEvent, request?: string): string {
  const members = describeEventJson(event).slice(1, -1);
  const id = request === undefined ? "" : `,"request":${JSON.stringify(request)}`;
  return escapeLineEnds(
    `{"time":"${toIsoTime(time)}","level":"${level}","event":"${event.type}"${
      members && ","
    }${members}${id}}`,
  );
}

/** U+0085, U+2028 and U+2029 are line ends for some readers. */
function escapeLineEnds(text: string): string {
  return /[\u0085\u2028\u2029]/.test(text)
    ? text.replace(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;
}

function toTextLine(time: number, level: LogLevel, name: string, fields: LogFields): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${quote(String(value))}`);
  const clock = new Date(time).toISOString().slice(11, 23);
  return [clock, level.padEnd(5), name, ...pairs].join(" ");
}

/** A value on one line, with quotes where it has a blank, and without control and invisible characters. */
function quote(text: string): string {
  if (/^[\w.:/@+,%-]+$/.test(text)) return text;
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
