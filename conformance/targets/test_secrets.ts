/**
 * Records what passes between the kit and a server, and finds the secrets in it: passwords, client secrets, codes, tokens,
 * assertions, proofs, cookies, session ids, keys. Only tests import this.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Names of parameters, members and form fields that hold a secret. */
const NAMES =
  "code|device_code|user_code|code_verifier|transaction|access_token|refresh_token|id_token|token|subject_token|" +
  "actor_token|assertion|client_assertion|client_secret|password|request|id_token_hint|registration_access_token|response|" +
  "requestState";
/** Where they appear. A value in quotes may have escapes. */
const PLACES: readonly RegExp[] = [
  new RegExp(`"(${NAMES})" ?: ?"((?:[^"\\\\]|\\\\.)+)`, "g"),
  new RegExp(`(?:^|[?&#\\s"])(${NAMES})=([^&\\s"'<>;,]+)`, "gm"),
  new RegExp(`name="(${NAMES})" value="([^"]+)`, "g"),
  /^(authorization): *(?:[A-Za-z]+ +)?(\S+)/gim,
  /^(dpop|x-api-key|mcp-session-id): *(\S+)/gim,
  /^set-(cookie): *[^=;\n]+=([^;\r\n]+)/gim,
  /^(cookie): *[^=;\n]+=([^;\r\n]+)/gim,
];
/** Shorter values and plain words, such as `code=unknown`, are not secrets but what a vector sends in place of one. */
const MIN_SECRET_CHARACTERS = 10;
const PLAIN = /^(?:[a-z]+(?:[-_. ][a-z]+)*|[\d.]+|https?:\/\/[^?]*)$/i;
/** Of a token, a part of this length identifies it. */
const MAX_SOUGHT_CHARACTERS = 60;

/** A proxy that keeps what passes. */
export interface Recorder {
  readonly url: string;
  /** Passes connections on to this port from now on. */
  connectTo(port: number): void;
  /** What servers and clients sent, one text for each connection and direction. */
  texts(): string[];
  close(): void;
}

/** Starts one on a free port. */
export async function startRecorder(): Promise<Recorder> {
  const sides: Uint8Array[][] = [];
  const sockets = new Set<Socket>();
  let port = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
      const chunks: Uint8Array[] = [];
      sides.push(chunks);
      sockets.add(from);
      from.on("data", (chunk) => chunks.push(chunk));
      from.on("error", () => to.destroy());
      from.on("close", () => sockets.delete(from));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connectTo: (given) => void (port = given),
    texts: () => sides.map((chunks) => Buffer.concat(chunks).toString("latin1")),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The secrets in what passed, with the name of the place where each was found. */
export function findSecrets(texts: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const text of texts) {
    for (const place of PLACES) {
      for (const [, name, value] of text.matchAll(place)) {
        for (const secret of readValue(name!.toLowerCase(), value!)) {
          addSecret(found, name!.toLowerCase(), secret);
        }
      }
    }
  }
  return found;
}

/** Adds the secrets of a target file: passwords, client secrets, keys, private keys. */
export function addNamedSecrets(found: Map<string, string>, value: unknown, name: string = ""): void {
  if (typeof value === "string" && /^(?:secret|password|d|key)$/.test(name)) found.set(value, name);
  if (typeof value !== "object" || value === null) return;
  for (const [member, each] of Object.entries(value)) {
    addNamedSecrets(found, each, name === "keys" ? "key" : member);
  }
}

/** The value, decoded; of `Basic` the password, of a JSON Web Token its signature as well. */
function readValue(name: string, value: string): string[] {
  const plain = decode(value);
  if (name === "authorization") {
    const pair = Buffer.from(plain, "base64").toString("latin1");
    if (/^[\x20-\x7e]+:[\x20-\x7e]+$/.test(pair)) return [plain, decode(pair.slice(pair.indexOf(":") + 1))];
  }
  const signature = /^eyJ[\w-]+\.[\w-]*\.([\w-]{20,})$/.exec(plain)?.[1];
  return signature === undefined ? [plain] : [plain.split(".")[1]!, signature];
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}

function addSecret(found: Map<string, string>, name: string, secret: string): void {
  const isShort = secret.length < (name === "user_code" ? 8 : MIN_SECRET_CHARACTERS);
  if (isShort || PLAIN.test(secret) && name !== "user_code") return;
  found.set(secret.slice(-MAX_SOUGHT_CHARACTERS), name);
}

/** The secrets that a text holds, as they are or encoded for a URL or as JSON: the name of each and what is around it. */
export function findLeaks(text: string, secrets: ReadonlyMap<string, string>): string[] {
  const leaks: string[] = [];
  for (const [secret, name] of secrets) {
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])) {
      const at = text.indexOf(form);
      if (at >= 0) leaks.push(`${name}: ${text.slice(Math.max(0, at - 120), at + form.length + 20)}`);
    }
  }
  return leaks;
}

/** The responses with status 5xx in what servers sent, with their bodies. */
export function findServerErrors(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    text.startsWith("HTTP/1.1 ")
      ? text.split(/(?=^HTTP\/1\.1 \d{3})/m).filter((each) => /^HTTP\/1\.1 5/.test(each))
      : []
  );
}
