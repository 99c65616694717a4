/**
 * The server card, by which clients learn how to connect before they do (SEP-2127,
 * https://github.com/modelcontextprotocol/experimental-ext-server-card). It is at the address of the server with
 * `/server-card` after it, and says nothing about tools, resources and prompts.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { isUnchanged } from "../../http/entity_tag.ts";
import { type Fields, respond, respondHead, respondText } from "../../http/response.ts";
import { checkNames, type Names } from "../../options/option_check.ts";
import type { ServerInfo } from "../definition/server_info.ts";
import { REVISIONS } from "../era.ts";
import { publishedMembers, type Repository, REPOSITORY_NAMES } from "./published_server.ts";

/** Options of {@linkcode serverCard}. The other members are those of the server itself. */
export interface ServerCardOptions {
  /** In reverse-DNS form with one slash, such as `com.example/weather`. */
  readonly name: string;
  /** At most 100 characters. @default the option `description` of the server */
  readonly description?: string;
  readonly repository?: Repository;
}

const NAMES: Names<ServerCardOptions> = { name: "string", description: "string", repository: "object" };

/** The server for which a card is made. */
export interface CardServer extends ServerInfo {
  readonly issuer: string;
  /** The path before `/mcp`. */
  readonly base: string;
  /** Whether it also serves HTTP+SSE. */
  readonly sse: unknown;
}

/** Makes the function that answers requests for the card of a server. */
export type ServeCard = (server: CardServer) => (request: Request) => Promise<Response>;

const CORS: Fields = [
  ["access-control-allow-origin", "*"],
  ["access-control-allow-methods", "GET"],
  ["access-control-allow-headers", "Content-Type"],
];

/**
 * The card of a server, for its option `card`.
 * @throws {TypeError} for an option that does not exist; naming the member and the rule that it breaks, when the server is
 * created
 */
export function serverCard(options: ServerCardOptions): ServeCard {
  checkNames("serverCard", options, NAMES);
  if (options.repository) checkNames("serverCard.repository", options.repository, REPOSITORY_NAMES);
  return (server) => {
    const body = JSON.stringify(writeCard(options, server));
    const tag = `"${encodeBase64url(sha256(body)).slice(0, 22)}"`;
    const shared: Fields = [...CORS, ["cache-control", "public, max-age=3600"], ["etag", tag]];
    const fields: Fields = [["content-type", "application/mcp-server-card+json"], ...shared];
    return (request) => Promise.resolve(answer(request));

    function answer(request: Request): Response {
      switch (request.method) {
        case "GET":
        case "HEAD":
          if (isUnchanged(request, tag)) return respond(304, null, shared);
          return (request.method === "HEAD" ? respondHead : respond)(200, body, fields);
        case "OPTIONS":
          return respond(204, null, CORS);
        default:
          return respondText(405, "Method not allowed. Allowed: GET", [["allow", "GET, HEAD, OPTIONS"]]);
      }
    }
  };
}

function writeCard(
  { name, description, repository }: ServerCardOptions,
  server: CardServer,
): Record<string, unknown> {
  const url = new URL(`${server.base}/mcp`, server.issuer).href;
  const remote = (type: string, url: string, supportedProtocolVersions: readonly string[]) => ({
    type,
    url,
    supportedProtocolVersions,
  });
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    ...publishedMembers("a server card", {
      name,
      version: server.version,
      description: description ?? server.description ?? "",
      title: server.title,
      websiteUrl: server.websiteUrl,
      repository,
      icons: server.icons,
    }),
    remotes: [
      remote("streamable-http", url, REVISIONS.filter((revision) => revision >= "2025-03-26")),
      ...(server.sse ? [remote("sse", `${url}/sse`, ["2024-11-05"])] : []),
    ],
  };
}
