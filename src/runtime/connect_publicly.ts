/**
 * How Node, Deno and Bun fetch URLs that clients name. The code is loaded at the first fetch: most servers never fetch
 * any.
 *
 * @module
 */
import type { Connect } from "../http/network/public_fetch.ts";

let made: Promise<Connect> | undefined;

/** Opens connections to public addresses only (`public_connect.ts`). */
export const publicConnect: Connect = async (url, init) => {
  made ??= import("./public_connect.ts").then(({ createPublicConnect }) => createPublicConnect());
  return (await made)(url, init);
};
