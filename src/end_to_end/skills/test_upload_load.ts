/**
 * Many concurrent uploads, each over its own connection: each package has a large unique file and a file that all share.
 * Only tests import this.
 *
 * @module
 */
import { connect } from "node:net";
import { digestOf } from "../../skills/content_digest.ts";

const encoder = new TextEncoder();
/** The file that all packages share, such as a license. */
const SHARED: Uint8Array<ArrayBuffer> = noise(64 * 1024);
const BOUNDARY = "upload-load";

/** The outcome of an upload; without a status there was no response. */
export interface UploadAnswer {
  readonly status: number | undefined;
  readonly id: string | undefined;
  readonly text: string;
}

export interface UploadLoad {
  /** Sends the package of this number. Never rejects: a broken connection is an outcome without a status. */
  send(url: string, key: string, number: number): Promise<UploadAnswer>;
  /** The digests of the files of this package, by path. */
  digests(number: number): Promise<ReadonlyMap<string, string>>;
}

/** @param size bytes of the unique file of each package */
export function uploadLoad(size: number): UploadLoad {
  const rest = noise(size - STAMP);

  function partsOf(number: number): { name: string; markdown: Uint8Array<ArrayBuffer>; stamp: Uint8Array } {
    const name = nameOf(number);
    return {
      name,
      markdown: encoder.encode(
        `---\nname: ${name}\ndescription: Package ${number} of many.\n---\n# ${name}\n`,
      ),
      stamp: encoder.encode(name.padEnd(STAMP)),
    };
  }

  return {
    send(url, key, number) {
      const { name, markdown, stamp } = partsOf(number);
      const part = (path: string): Uint8Array =>
        encoder.encode(
          `\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; name="files[]"; filename="${name}/${path}"\r\n\r\n`,
        );
      const body = [
        part("SKILL.md").subarray(2),
        markdown,
        part("LICENSE.bin"),
        SHARED,
        part("data.bin"),
        stamp,
        rest,
        encoder.encode(`\r\n--${BOUNDARY}--\r\n`),
      ];
      const length = body.reduce((sum, piece) => sum + piece.length, 0);
      const { hostname, port } = new URL(url);
      const head = [
        "POST /v1/skills HTTP/1.1",
        `host: ${hostname}:${port}`,
        `x-api-key: ${key}`,
        `content-type: multipart/form-data; boundary=${BOUNDARY}`,
        `content-length: ${length}`,
        "connection: close",
        "\r\n",
      ].join("\r\n");
      return exchange(hostname, Number(port), [encoder.encode(head), ...body]);
    },

    async digests(number) {
      const { markdown, stamp } = partsOf(number);
      const data = new Uint8Array(size);
      data.set(stamp);
      data.set(rest, STAMP);
      return new Map([
        ["LICENSE.bin", await digestOf(SHARED)],
        ["SKILL.md", await digestOf(markdown)],
        ["data.bin", await digestOf(data)],
      ]);
    },
  };
}

/** The name of the skill of this number. */
export function nameOf(number: number): string {
  return `load-${String(number).padStart(5, "0")}`;
}

/** The size of the unique beginning of the large file. */
const STAMP = 32;

function noise(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return bytes;
}

function exchange(hostname: string, port: number, pieces: readonly Uint8Array[]): Promise<UploadAnswer> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, hostname, () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.on("data", (chunk) => text += chunk);
    socket.on("error", () => {});
    socket.on("close", () => resolve(readAnswer(text)));
  });
}

/** Parses a complete response. */
function readAnswer(text: string): UploadAnswer {
  const [, status, body = ""] = /^HTTP\/1\.1 (\d{3})[^]*?\r\n\r\n([^]*)$/.exec(text) ?? [];
  const json = /\{[^]*\}/.exec(body)?.[0];
  try {
    const { id } = JSON.parse(json ?? "");
    return { status: Number(status), id, text };
  } catch {
    return { status: undefined, id: undefined, text };
  }
}
