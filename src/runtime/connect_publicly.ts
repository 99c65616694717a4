/**
 * What the entries for Node, Deno and Bun bring for documents and keys at addresses that strangers name. Loaded when the
 * first one is fetched: most servers never fetch any.
 *
 * @module
 */
import type { Connect } from "../http/network/public_fetch.ts";

let made: Promise<Connect> | undefined;

/** Opens connections to public addresses only: see `public_connect.ts`. */
export const publicConnect: Connect = async (url, init) => {
  made ??= import("./public_connect.ts").then(({ createPublicConnect }) => createPublicConnect());
  return (await made)(url, init);
};
