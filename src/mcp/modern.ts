/**
 * Writes the results of revision 2026-07-28, with their `_meta`
 * (https://modelcontextprotocol.io/specification/draft/basic/index#meta).
 *
 * @module
 */
import { type Response, writeResponse } from "../jsonrpc/message.ts";
import { toJson } from "../jsonrpc/to_json.ts";
import { implementation, type ServerInfo } from "./definition/server_info.ts";
import { MODERN } from "./era.ts";

const SERVER_KEY = "io.modelcontextprotocol/serverInfo";

type Members = Readonly<Record<string, unknown>>;

/** Writes responses of revision 2026-07-28. */
export interface ModernWriter {
  /** The beginning of every complete result: `{"resultType":"complete","_meta":{…}`. */
  readonly head: string;
  /** Returns the JSON text of a response. */
  readonly write: (response: Response) => string;
}

/** Creates a writer that adds the server info to every result. */
export function createModernWriter(info: ServerInfo): ModernWriter {
  const server = implementation(info, MODERN);
  const head = `{"resultType":"complete","_meta":{"${SERVER_KEY}":${JSON.stringify(server)}}`;

  function writeResult(result: unknown): string {
    const members = (result ?? {}) as Members;
    if (members.resultType === undefined && members._meta === undefined) {
      const text = toJson(members)!;
      return text === "{}" ? head + "}" : `${head},${text.slice(1)}`;
    }
    const meta = { ...members._meta as Members | undefined, [SERVER_KEY]: server };
    return toJson({ resultType: "complete", ...members, _meta: meta })!;
  }

  return {
    head,
    write: (response) =>
      writeResponse(
        "result" in response ? { id: response.id, json: writeResult(response.result) } : response,
      ),
  };
}
