/**
 * Builds the content of requests, multipart parts and archive entries as bytes (`FORMAT.md` section 5).
 *
 * @module
 */
import { buildArchive } from "./archive.ts";
import { fromBase64, utf8 } from "./bytes.ts";
import type { JsonObject } from "../vector/vector_file.ts";

const TEXT = "text/plain;charset=UTF-8";

export interface Content {
  readonly type?: string;
  readonly bytes: Uint8Array;
}

/** Builds the content of a description with `json`, `text`, `base64`, `repeat` or `zip`. `undefined` without any. */
export async function buildContent(described: JsonObject): Promise<Content | undefined> {
  if (described["json"] !== undefined) {
    return { type: "application/json", bytes: utf8(JSON.stringify(described["json"])) };
  }
  if (described["text"] !== undefined) return { type: TEXT, bytes: utf8(String(described["text"])) };
  if (described["base64"] !== undefined) return { bytes: fromBase64(String(described["base64"])) };
  if (described["repeat"] !== undefined) {
    const [text, times] = described["repeat"] as [string, number];
    return { type: TEXT, bytes: utf8(text.repeat(times)) };
  }
  if (described["zip"] !== undefined) {
    return {
      type: "application/zip",
      bytes: await buildArchive(described["zip"] as JsonObject, buildContent),
    };
  }
  return undefined;
}
