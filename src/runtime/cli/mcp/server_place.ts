/**
 * Where the servers of the gateway are: in a file, in a store, or at a running server. Actions see no difference.
 *
 * @module
 */
import {
  addUpstream,
  type AdminUpstream,
  listUpstreams,
  removeUpstream,
  showUpstream,
} from "../../../admin/operations/upstreams.ts";
import type { McpServer } from "../../../gateway/upstream/configuration/configuration.ts";
import { COMMON_OPTIONS as ADMIN_OPTIONS, openTarget } from "../admin/admin_action.ts";
import { isNotFound } from "../admin/admin_target.ts";
import { readPages } from "../admin/list_action.ts";
import { UsageError } from "../output.ts";
import type { McpCall } from "./mcp_action.ts";
import { describeServer, getServer, readServerFile } from "./server_file.ts";

/** The options that name the place, beside `--file`. */
export const PLACE_OPTIONS: Pick<typeof ADMIN_OPTIONS, "data" | "store" | "url" | "key-file" | "timeout"> = {
  data: ADMIN_OPTIONS.data,
  store: ADMIN_OPTIONS.store,
  url: ADMIN_OPTIONS.url,
  "key-file": ADMIN_OPTIONS["key-file"],
  timeout: ADMIN_OPTIONS.timeout,
};

/** A server, as lists show it: what it is, and its state where a gateway runs. */
export type ListedServer = Pick<AdminUpstream, "name" | "server"> & Partial<AdminUpstream>;

export interface ServerPlace {
  list(): Promise<readonly ListedServer[]>;
  show(name: string): Promise<ListedServer>;
  add(name: string, server: McpServer): Promise<ListedServer>;
  remove(name: string): Promise<void>;
}

/** Works on the place that the options name, and closes it. @throws {UsageError} for options that exclude each other */
export async function withServerPlace<Result>(
  { values, given, signal }: Pick<McpCall, "values" | "given" | "signal">,
  work: (place: ServerPlace) => Promise<Result>,
): Promise<Result> {
  if (values.file !== undefined) {
    const other = Object.keys(PLACE_OPTIONS).find((name) => given.has(name));
    if (other !== undefined) throw new UsageError(`--file and --${other} exclude each other`);
    return await work(filePlace(values.file, signal));
  }
  const target = await openTarget(values as Readonly<Record<string, unknown>>, given, signal);
  try {
    return await work({
      list: async () => (await readPages(target.call, listUpstreams, {})).data,
      show: (upstream) => target.call(showUpstream, { upstream }),
      add: (name, server) => target.call(addUpstream, { name, ...server }),
      remove: (upstream) => target.call(removeUpstream, { upstream }),
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Error(`${error.message}. "trivet mcp list" shows what there is`, { cause: error });
  } finally {
    // A change is not reported as done before it is in the audit trail.
    await target.close();
  }
}

function filePlace(path: string, signal: AbortSignal): ServerPlace {
  const list = (name: string, server: unknown): ListedServer => ({ name, server: describeServer(server) });
  return {
    list: () =>
      Promise.resolve(Object.entries(readServerFile(path).servers).map(([name, each]) => list(name, each))),
    // deno-lint-ignore require-await
    show: async (name) => list(name, getServer(readServerFile(path), name)),
    async add(name, server) {
      const file = readServerFile(path, { isNew: true });
      if (Object.hasOwn(file.servers, name)) throw new Error(`"${path}" has a server "${name}" already`);
      // VS Code wants the transport to be named.
      const type = file.member === "servers" ? { type: "url" in server ? "http" : "stdio" } : {};
      await file.write({ ...file.servers, [name]: { ...type, ...server } }, signal);
      return list(name, server);
    },
    async remove(name) {
      const file = readServerFile(path);
      getServer(file, name);
      const { [name]: _removed, ...others } = file.servers;
      await file.write(others, signal);
    },
  };
}
