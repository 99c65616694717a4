/**
 * From the settings of `trivet serve` to the options of `createTrivet`.
 *
 * @module
 */
import { admin } from "../../../admin/admin.ts";
import type { Telemetry } from "../../../http/telemetry.ts";
import type { Definition } from "../../../mcp/definition/definition.ts";
import { EDITOR_SCHEMES } from "../../../oauth/clients/redirect_uri.ts";
import type { McpOptions } from "../../../options/mcp_options.ts";
import type { OAuthOptions } from "../../../options/oauth_options.ts";
import type { SkillsOptions } from "../../../options/skills_options.ts";
import type { TrivetOptions } from "../../../options/trivet_options.ts";
import { canHavePasskeys, passkeys } from "../../../passkeys.ts";
import type { BlobStore } from "../../../skills/blobs/blob_store.ts";
import type { BreachedPasswords } from "../../breached_passwords.ts";
import { publicConnect } from "../../connect_publicly.ts";
import { readArrange } from "../gateway/gateway_options.ts";
import type { ClientDocuments } from "./client_documents.ts";
import type { Observers } from "./observe.ts";
import type { ServeSettings } from "./serve_settings.ts";

/** What the options need, and is there only once the server has begun to listen and has opened its store. */
export interface OpenedParts {
  readonly issuer: string;
  readonly observers: Observers;
  readonly blobs: BlobStore | undefined;
  /** Those of the user's module. */
  readonly definitions: readonly Definition[];
  readonly clientDocuments: ClientDocuments;
  readonly breached: BreachedPasswords | undefined;
  readonly telemetry: Telemetry | undefined;
}

export async function toTrivetOptions(settings: ServeSettings, parts: OpenedParts): Promise<TrivetOptions> {
  const { values, gateway, skills } = settings;
  const { issuer, observers, telemetry } = parts;
  return {
    ...settings.server,
    issuer,
    store: observers.store,
    oauth: toOAuthOptions(settings, parts),
    skills: skills.isServed && toSkillsOptions(settings, parts),
    mcp: await toMcpOptions(settings, parts),
    ...(gateway && { gateway: gateway.option }),
    ...(!values["no-admin"] && { admin: admin() }),
    onEvent: observers.onEvent,
    onRequest: observers.onRequest,
    requestId: observers.requestId,
    telemetry,
  };
}

function toOAuthOptions(
  { values, oauth }: ServeSettings,
  { issuer, clientDocuments, breached }: OpenedParts,
): OAuthOptions {
  return {
    ...oauth,
    accessTokenFormat: values["token-format"],
    registration: values.registration,
    openid: values.openid,
    storedProviders: true,
    ...(canHavePasskeys(issuer) && { passkeys: passkeys() }),
    ...(breached && { passwordPolicy: { isBreached: breached.isBreached } }),
    resources: values.resource?.map((resource) => ({ resource })) ?? [],
    connect: publicConnect,
    clientMetadataDocuments: clientDocuments.supported,
    trustedClients: values["trust-client"] ?? [],
    redirectSchemes: [...EDITOR_SCHEMES, ...values["redirect-scheme"] ?? []],
  };
}

function toSkillsOptions({ values, skills }: ServeSettings, { blobs }: OpenedParts): SkillsOptions {
  const { folders, upstream } = skills;
  return {
    folders,
    ...(blobs && { blobs }),
    ...(upstream && { messages: { upstream } }),
    ...(values.publish && { discovery: { workspaces: values.publish } }),
  };
}

async function toMcpOptions(
  { values, skills }: ServeSettings,
  { definitions }: OpenedParts,
): Promise<McpOptions> {
  return {
    auth: values["mcp-auth"],
    definitions,
    arrange: await readArrange(values),
    skills: skills.isOffered,
    ...(values.name !== undefined && { name: values.name }),
    sse: values.sse,
    allowedHosts: values["allow-host"] ?? [],
    allowedOrigins: values["allow-origin"] ?? [],
  };
}
