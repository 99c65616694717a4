/**
 * The digest that identifies the content of a file in the API, in manifests and in the store: `sha256:` and 64
 * hexadecimal digits.
 *
 * @module
 */
import { digestLarge, formatDigest } from "../crypto/large_digest.ts";
import { WorkSlice } from "../http/work_slice.ts";
import { nativeBytes } from "./native_bytes.ts";

/** Bytes of one step of the digest: 0.6 ms. */
const STEP_BYTES = 1024 * 1024;

/** The digest of a content, as text, computed in time slices. */
export async function digestOf(bytes: Uint8Array, slice: WorkSlice = new WorkSlice()): Promise<string> {
  const hash = nativeBytes()?.createSha256();
  if (!hash) return formatDigest(await digestLarge(bytes));
  // Web Crypto copies the bytes first: as much memory again as the upload.
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    hash.update(bytes.subarray(at, at + STEP_BYTES));
    if (slice.isOver) await slice.yield();
  }
  return formatDigest(hash.digest());
}
