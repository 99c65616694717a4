/**
 * What `trivet serve` prints once it runs: a banner for people, or a line of JSON.
 *
 * @module
 */
import type { Definition } from "../../../mcp/definition/definition.ts";
import type { Upstream } from "../../../skills/messages/upstream_options.ts";
import { printLine } from "../output.ts";
import type { Demo, ShownDemo } from "./demo.ts";
import { listNames } from "./reload_tools.ts";
import type { ServeSettings } from "./serve_settings.ts";

/** In place of a secret that does not work any more. */
const CHANGED = "(changed since)";

/** A server that runs. */
export interface StartedServer extends ShownDemo {
  readonly issuer: string;
  /** Where it listens. */
  readonly url: string;
  /** Those of the user's module. */
  readonly definitions: readonly Definition[];
  /** Whether this start made the demo. */
  readonly isFirstStart: boolean;
}

/** Prints what the options ask for: JSON, the banner, or nothing. */
export function printStart(
  { values, module, gateway, skills, wantsDemo }: ServeSettings,
  { issuer, url, definitions, demo, showsSecrets, isFirstStart }: StartedServer,
): void {
  if (values.json) {
    const mcp = `${issuer.replace(/\/$/, "")}/mcp`;
    const skills_dir = skills.isServed ? skills.named[0] : undefined;
    printLine(JSON.stringify({ issuer, url, ...demo, mcp, skills_dir }));
  } else if (!values.quiet) {
    printBanner({
      issuer,
      skillFolders: skills.isServed ? skills.named : undefined,
      offersSkills: skills.isServed && skills.isOffered,
      upstream: skills.upstream,
      hasSse: values.sse,
      module: module && `${module.name}: ${listNames(definitions)}`,
      hasGateway: gateway !== undefined,
      demo: wantsDemo ? demo : undefined,
      showsSecrets,
      isFirstStart,
      hasAdmin: !values["no-admin"],
      needsToken: values["mcp-auth"] === "required",
    });
  }
}

export interface BannerFacts {
  readonly issuer: string;
  /** `undefined` without the Skills service. */
  readonly skillFolders: readonly string[] | undefined;
  /** Whether the tool server offers skills. */
  readonly offersSkills: boolean;
  readonly upstream: Upstream | undefined;
  /** Whether the transport of MCP 2024-11-05 is served. */
  readonly hasSse: boolean;
  /** The name of the user's module and what it exports. */
  readonly module: string | undefined;
  /** Whether tools of other MCP servers are offered. */
  readonly hasGateway: boolean;
  readonly demo: Demo | undefined;
  readonly showsSecrets: boolean;
  /** Whether this start made the demo. */
  readonly isFirstStart: boolean;
  /** Whether the administration is served. */
  readonly hasAdmin: boolean;
  /** Whether the tool server requires an access token. */
  readonly needsToken: boolean;
}

export function printBanner(
  {
    issuer: given,
    skillFolders,
    offersSkills,
    upstream,
    hasSse,
    module,
    hasGateway,
    demo,
    showsSecrets,
    isFirstStart,
    hasAdmin,
    needsToken,
  }: BannerFacts,
): void {
  const issuer = given.replace(/\/$/, "");
  const id = demo?.client.id ?? "<client id>";
  const secret = demo?.client.secret ?? "<client secret>";
  const key = demo?.api_key ?? "<api key>";
  const bearer = needsToken ? " -H 'authorization: Bearer <access token>'" : "";
  const hasTools = offersSkills || module !== undefined || hasGateway;
  const request = {
    jsonrpc: "2.0",
    id: 1,
    ...(offersSkills ? { method: "tools/call", params: { name: "list_skills" } } : { method: "tools/list" }),
  };
  printLine(`
Trivet runs at ${given}
  permission  ${issuer}/oauth/authorize, /oauth/token, /api/user
${describeSkills(issuer, skillFolders, upstream)}  tools       ${issuer}/mcp${hasSse ? ", /mcp/sse" : ""}${
    module !== undefined
      ? `           ${module}`
      : hasGateway
      ? "           those of other MCP servers"
      : hasTools
      ? ""
      : "           no tools yet: trivet serve FILE serves those of a file"
  }${hasAdmin ? `\n  operators   ${issuer}/admin         for users with the role admin` : ""}
${demo === undefined ? "" : `\n${describeDemo(demo, showsSecrets, isFirstStart)}\n`}
Try, in another terminal:
  curl -s ${issuer}/oauth/token -d grant_type=client_credentials -d 'client_id=${id}' -d 'client_secret=${secret}'
${skillFolders === undefined ? "" : `  curl -s ${issuer}/v1/skills -H 'x-api-key: ${key}'\n`}${
    hasTools
      ? `  curl -s ${issuer}/mcp -H 'content-type: application/json'${bearer} -d '${
        JSON.stringify(request)
      }'\n`
      : ""
  }
Press Ctrl+C to stop.`);
}

function describeDemo(
  { client, user, api_key }: Demo,
  showsSecrets: boolean,
  isFirstStart: boolean,
): string {
  if (!showsSecrets) {
    return "The demo's secrets were shown at the first start; trivet serve --show-secrets shows them again.";
  }
  return `${
    isFirstStart
      ? "Made on this first start (shown once; trivet serve --show-secrets shows them again):"
      : "The demo of this data folder:"
  }
  client   ${client.id}   secret ${client.secret ?? CHANGED}
  user     ${user.username}   password ${user.password ?? CHANGED}
  api key  ${api_key ?? CHANGED}`;
}

function describeSkills(
  issuer: string,
  folders: readonly string[] | undefined,
  upstream: Upstream | undefined,
): string {
  if (folders === undefined) return "";
  const local = folders.length === 0 ? "uploaded skills" : `local skills: ${folders.join(", ")}`;
  return `  know-how    ${issuer}/v1/skills       ${local}
              ${issuer}/v1/messages     ${describeUpstream(upstream)}
`;
}

function describeUpstream(upstream: Upstream | undefined): string {
  return upstream
    ? `messages go to ${new URL(upstream.url).host}`
    : "answered by a scripted model; --upstream URL sets a real one";
}
