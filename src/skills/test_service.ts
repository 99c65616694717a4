/**
 * Test kit of this folder: a Skills service on the memory store, zip archives with faults, and local folders in memory.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { soleSecret } from "../crypto/server_secrets.ts";
import type { TrivetEvent } from "../events.ts";
import { TokenRefusal } from "../http/bearer.ts";
import { joinBytes } from "../http/body/byte_buffer.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import type { Store } from "../store/store.ts";
import { verifyApiKey } from "./api_key.ts";
import { crc32 } from "./archive/crc32.ts";
import { apiKeyKey } from "./records.ts";
import { secretDigest } from "../crypto/secret.ts";
import type { FolderEntry, SkillFolder } from "./local/folder.ts";
import { createSkillsService, type SkillsService, type SkillsServiceOptions } from "./service.ts";

const encoder = new TextEncoder();

export const SKILL_MD =
  "---\nname: demo\ndescription: Shows how a skill looks. Use it in tests.\n---\n# Demo\n\nDo it well.\n";

/** A file to send: its name and its content. */
export type TestFile = readonly [name: string, content: string | Uint8Array];

export const DEMO: readonly TestFile[] = [
  ["demo/SKILL.md", SKILL_MD],
  ["demo/scripts/run.py", "print('hello')\n"],
  ["demo/data.bin", Uint8Array.of(0, 255, 13, 10, 45, 45, 0)],
];

export interface TestService {
  readonly service: SkillsService;
  readonly store: Store;
  readonly events: TrivetEvent[];
  advance(milliseconds: number): void;
  send(path: string, init?: RequestInit & { key?: string | undefined }): Promise<Response>;
  upload(files: readonly TestFile[], fields?: Record<string, string>, key?: string): Promise<Response>;
}

/** API keys: `writer`, `reader`, `unscoped` (no scopes) and `stranger` (another workspace). */
export async function newService(options: Partial<SkillsServiceOptions> = {}): Promise<TestService> {
  const start = Date.now();
  let offset = 0;
  // A clock that stands: how long a scan of a folder took decides when the next one may start.
  const now = (): number => start + offset;
  const store = options.store ?? memoryStore({ now });
  const keys = {
    writer: ["default", ["skills:read", "skills:write"]],
    reader: ["default", ["skills:read"]],
    unscoped: ["default", []],
    stranger: ["other", ["skills:write"]],
  } as const;
  for (const [secret, [workspace, scopes]] of Object.entries(keys)) {
    const value = { id: secret, name: secret, workspace, scopes, created: 0 };
    await store.commit({ set: [{ key: apiKeyKey(secretDigest(secret)), value }] });
  }
  const events: TrivetEvent[] = [];
  const cursorKey = soleSecret(new Uint8Array(32).fill(7));
  const service = createSkillsService({
    store,
    base: "",
    identify: async (request) => {
      const key = request.headers.get("x-api-key");
      return key === null
        ? "none"
        : await verifyApiKey(store, key) ?? new TokenRefusal("invalid_token", "The API key is not valid");
    },
    auth: "required",
    folders: [],
    uploadLimit: 8 * 1024 * 1024,
    packageRules: {},
    skillsPerRequest: 8,
    messages: { markers: "auto", bodyLimit: 1024 * 1024 },
    openai: false,
    unknownBetas: "ignore",
    cursorKey: () => cursorKey,
    observe: (event) => events.push(event),
    now,
    ...options,
  });
  const test: TestService = {
    service,
    store,
    events,
    advance: (milliseconds) => void (offset += milliseconds),
    send: (path, { key = "writer", ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (key !== "") headers.set("x-api-key", key);
      return service.fetch(new Request("http://127.0.0.1" + path, { ...init, headers }));
    },
    upload(files, fields = {}, key = "writer") {
      const { body, type } = multipart(files, fields);
      return test.send("/v1/skills", { method: "POST", body, headers: { "content-type": type }, key });
    },
  };
  return test;
}

/** A multipart body written byte for byte: `FormData` would correct hostile names. */
export function multipart(
  files: readonly TestFile[],
  fields: Record<string, string> = {},
): { body: Uint8Array<ArrayBuffer>; type: string } {
  const boundary = "----test-boundary";
  const chunks: Uint8Array[] = [];
  const write = (content: string | Uint8Array) =>
    chunks.push(typeof content === "string" ? encoder.encode(content) : content);
  for (const [name, value] of Object.entries(fields)) {
    write(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }
  for (const [name, content] of files) {
    write(`--${boundary}\r\nContent-Disposition: form-data; name="files[]"; filename="${name}"\r\n`);
    write("Content-Type: application/octet-stream\r\n\r\n");
    write(content);
    write("\r\n");
  }
  write(`--${boundary}--\r\n`);
  return { body: concat(chunks), type: `multipart/form-data; boundary=${boundary}` };
}

/** An entry of a test archive, with its faults. */
export interface TestEntry {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  readonly localName?: string;
  readonly localFlags?: number;
  /** An extra field of both headers, with its own head. */
  readonly extra?: Uint8Array;
  /** Follows the data; flag 8 declares a data descriptor there. */
  readonly descriptor?: Uint8Array;
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly gap?: number;
}

/** A zip archive of stored or (with `method: 8`) deflated entries, with the given faults. */
export async function zip(
  entries: readonly TestEntry[],
  { prefix = "", suffix = "", comment = "", count = entries.length }: {
    prefix?: string;
    suffix?: string;
    comment?: string;
    count?: number;
  } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const push = (...added: readonly Uint8Array[]): void => {
    for (const chunk of added) {
      chunks.push(chunk);
      length += chunk.length;
    }
  };
  push(encoder.encode(prefix));
  const directory: Uint8Array[] = [];
  for (const entry of entries) {
    const { content = "", flags = 0, method = 0, mode = 0, gap = 0 } = entry;
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    const packed = method === 8 ? await deflate(bytes) : bytes;
    const name = typeof entry.name === "string" ? encoder.encode(entry.name) : entry.name;
    const localName = entry.localName === undefined ? name : encoder.encode(entry.localName);
    const { localFlags = flags, extra = new Uint8Array(), descriptor = new Uint8Array() } = entry;
    const crc = entry.crc ?? crc32(bytes);
    const size = entry.size ?? bytes.length;
    push(new Uint8Array(gap));
    const offset = length;
    push(
      numbers([
        [0x04034b50, 4],
        [20, 2],
        [localFlags, 2],
        [method, 2],
        [0, 4],
        [crc, 4],
        [packed.length, 4],
        [size, 4],
        [localName.length, 2],
        [extra.length, 2],
      ]),
    );
    push(localName, extra, packed, descriptor);
    directory.push(
      numbers([
        [0x02014b50, 4],
        [20 | 3 << 8, 2],
        [20, 2],
        [flags, 2],
        [method, 2],
        [0, 4],
        [crc, 4],
        [packed.length, 4],
        [size, 4],
        [name.length, 2],
        [extra.length, 2],
        [0, 6],
        [mode * 0x10000, 4],
        [offset, 4],
      ]),
      name,
      extra,
    );
  }
  const start = length;
  const size = directory.reduce((sum, chunk) => sum + chunk.length, 0);
  for (const chunk of directory) push(chunk);
  push(
    numbers([[0x06054b50, 4], [0, 4], [count, 2], [count, 2], [size, 4], [start, 4], [comment.length, 2]]),
  );
  push(encoder.encode(comment + suffix));
  return concat(chunks);
}

/** Little-endian numbers, each of the given number of bytes. */
export function numbers(fields: readonly (readonly [value: number, bytes: number])[]): Uint8Array {
  return Uint8Array.from(
    fields.flatMap(([value, bytes]) =>
      Array.from({ length: bytes }, (_, i) => Math.floor(value / 2 ** (8 * i)) & 255)
    ),
  );
}

async function deflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(
    new CompressionStream("deflate-raw"),
  );
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function concat(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return joinBytes(chunks, chunks.reduce((sum, chunk) => sum + chunk.length, 0));
}

/** A folder of files by path; `null` is a link. Changing the map changes the folder. */
export function folderOf(files: Map<string, string | null>, path = "/skills"): SkillFolder {
  const stampOf = (content: string | null) => String(content?.length) + secretDigest(content ?? "");
  return {
    path,
    list(relative) {
      const prefix = relative === "" ? "" : relative + "/";
      const entries = new Map<string, FolderEntry>();
      for (const [file, content] of files) {
        if (!file.startsWith(prefix)) continue;
        const [name, ...rest] = file.slice(prefix.length).split("/");
        const type = rest.length > 0 ? "folder" : content === null ? "link" : "file";
        entries.set(name!, {
          name: name!,
          type,
          size: content?.length ?? 0,
          stamp: stampOf(content),
          modified: 1_700_000_000_000,
        });
      }
      return Promise.resolve([...entries.values()].sort((a, b) => a.name < b.name ? -1 : 1));
    },
    read(relative) {
      // Resolves dots, as a file system does.
      const content = files.get(new URL(relative, "file:///").pathname.slice(1));
      return Promise.resolve(content === undefined || content === null ? undefined : encoder.encode(content));
    },
  };
}

/** Asserts a refusal in the form of errors. Returns its message. */
export async function refusal(response: Response, status: number, type: string): Promise<string> {
  assert.is(response.status, status);
  assert.is(response.headers.get("content-type"), "application/json");
  const body = await response.json();
  assert.equal(Object.keys(body), ["type", "error", "request_id"]);
  assert.is(body.type, "error");
  assert.is(body.error.type, type);
  assert.is(body.request_id, response.headers.get("request-id"));
  assert.match(body.request_id, /^req_/);
  return body.error.message;
}
