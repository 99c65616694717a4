/**
 * Microsoft Entra ID (https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc).
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { Claims } from "../../crypto/jws.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import { createOidc, readsGroups, toTexts } from "./oidc.ts";
import {
  PROVIDER_NAMES,
  type ProviderContext,
  type ProviderSettings,
  SignInError,
  type SignInProvider,
} from "./provider.ts";
import { fetchObject } from "./token_request.ts";

/** Settings of Microsoft Entra ID. */
export interface EntraSettings extends ProviderSettings {
  /** The id of the directory, or `organizations`, `consumers` or `common` for more than one. */
  readonly tenant: string;
  /** For more than one: the ids of the directories that are admitted. @default every directory */
  readonly tenants?: readonly string[];
  /** @default "https://login.microsoftonline.com" */
  readonly authority?: string;
  /** The address of Microsoft Graph, for users with many groups. @default "https://graph.microsoft.com" */
  readonly graph?: string;
}

const NAMES: Names<EntraSettings> = {
  ...PROVIDER_NAMES,
  tenant: "string",
  tenants: "string[]",
  authority: "string",
  graph: "string",
};
const TENANT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The directory of all personal accounts: the metadata of `consumers` names it. */
const CONSUMERS = "9188040d-6c67-4c5b-b112-36a304b66dad";

/**
 * Microsoft Entra ID. Where groups count, it is asked for the scope `User.Read` too: a user of more than 200 groups has none
 * in the ID token, and they are read from Microsoft Graph.
 */
export function entra(settings: EntraSettings): SignInProvider {
  checkNames("entra", settings, NAMES);
  const { authority = "https://login.microsoftonline.com", graph = "https://graph.microsoft.com" } = settings;
  // Ids are UUIDs, which portals show in either case.
  const tenants = settings.tenants?.map((each) => each.toLowerCase());
  const tenant = TENANT_ID.test(settings.tenant) ? settings.tenant.toLowerCase() : settings.tenant;
  const issuer = `${authority}/${tenant}/v2.0`;
  const only = tenant === "consumers" ? CONSUMERS : TENANT_ID.test(tenant) ? tenant : undefined;
  if (only === undefined && tenant !== "organizations" && tenant !== "common") {
    throw new TypeError(
      'Cannot create provider "entra": tenant must be a directory id, "organizations", "consumers" or "common"',
    );
  }
  const named = only === undefined
    // The metadata of more than one directory has a template, which the token's `tid` completes.
    ? `${authority}/{tenantid}/v2.0`
    : tenant === "consumers"
    ? `${authority}/${CONSUMERS}/v2.0`
    : issuer;
  const scope = readsGroups(settings) ? "openid profile email User.Read" : "openid profile email";
  return createOidc(
    { ...settings, issuer, scope: settings.keepTokens ? `${scope} offline_access` : scope },
    {
      named,
      isIssuer: (iss, { tid }) =>
        typeof tid === "string" && TENANT_ID.test(tid) && iss === `${authority}/${tid}/v2.0` &&
        (only === undefined ? tenants?.includes(tid.toLowerCase()) ?? true : tid.toLowerCase() === only),
      // A key may be for one directory: one of personal accounts signs no token of an organization.
      isSigner: ({ issuer }, { iss, tid }) =>
        issuer === undefined || issuer.replace("{tenantid}", String(tid)) === iss,
      // The administrator of any directory can set `email` to any address.
      isEmailVerified: ({ xms_edov }) => ["1", "true"].includes(String(xms_edov).toLowerCase()),
      groupsOf: async (context, claims, access_token) => [
        ...toTexts(claims["roles"]),
        ...hasOverage(claims) ? await readAuditGroups(context, graph, access_token) : [],
      ],
    },
    { id: "entra", name: "Microsoft" },
  );
}

/** Instead of too many groups there is a reference to them. Its address is not used: the token does not choose whom we ask. */
function hasOverage({ groups, _claim_names }: Claims): boolean {
  return groups === undefined && typeof _claim_names === "object" && _claim_names !== null &&
    Object.hasOwn(_claim_names, "groups");
}

/** https://learn.microsoft.com/graph/api/directoryobject-getmemberobjects */
async function readAuditGroups(
  { fetch }: ProviderContext,
  graph: string,
  access_token: string,
): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  const body = JSON.stringify({ securityEnabledOnly: false });
  try {
    const url = `${graph}/v1.0/me/getMemberObjects`;
    return toTexts((await fetchObject(fetch, url, { method: "POST", headers, body }))["value"]);
  } catch (error) {
    if (!(error instanceof PublicFetchError)) throw error;
    throw new SignInError(
      "The user has more groups than an ID token holds, and Microsoft Graph did not return them. Grant the application " +
        `the delegated permission User.Read, or use application roles. ${error.message}`,
    );
  }
}
