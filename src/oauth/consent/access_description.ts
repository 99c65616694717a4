/**
 * What the user reads before deciding, as data: who asks, for what access, for how long, and where the browser goes next.
 *
 * @module
 */
import { isLoopbackHost } from "../../http/network/loopback.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { describeAuthorizationDetails } from "../grants/authorization_details.ts";
import { findResourceSettings } from "../grants/resource.ts";
import { expandScopes } from "../grants/scope.ts";
import type {
  AccessView,
  AccountView,
  ApplicationView,
  DestinationView,
  DurationView,
} from "../pages/basic_views.ts";
import type { Language } from "../pages/languages.ts";
import type { Authorization } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Profile } from "../records/user_record.ts";

const MAX_DISPLAY_NAME_CHARACTERS = 80;
/** Longer paths are not accepted as `redirect` of `/logout`. */
const MAX_REDIRECT_CHARACTERS = 8192;

/**
 * The requested access.
 * @param allowed the scopes that the user allowed before
 */
export async function describeAccess(
  as: AuthorizationServer,
  language: Language,
  { scope, resource, authorization_details }: Omit<Authorization, "client_id">,
  allowed: ReadonlySet<string>,
): Promise<AccessView> {
  const translations = language === "de" ? (await import("../pages/texts_de.ts")).TRANSLATIONS : {};
  const translate = (text: string): string => Object.hasOwn(translations, text) ? translations[text]! : text;
  // Implied scopes are granted too, so the user sees them.
  const scopes = [...expandScopes(as, scope.split(" "))].map((each) => {
    const definition = Object.hasOwn(as.scopes, each) ? as.scopes[each] : undefined;
    const translated = typeof definition === "object" ? definition.descriptions?.[language] : undefined;
    return {
      scope: each,
      description: translated ?? translate(as.descriptions.get(each) ?? each),
      isAllowedBefore: allowed.has(each),
    };
  });
  return {
    scopes,
    details: describeAuthorizationDetails(as, authorization_details),
    resources: findResourceSettings(as, resource).map(({ name, resource }) => translate(name ?? resource)),
  };
}

/**
 * The client. Its name is on one line, without invisible characters and characters that reverse the text direction. Only the
 * name of a client that the operator registered is verified (RFC 7591 section 5).
 */
export function describeApplication(
  { name, id, source }: Pick<Client, "name" | "id" | "source">,
): ApplicationView {
  const visible = name.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim() || id;
  return {
    name: visible.length > MAX_DISPLAY_NAME_CHARACTERS
      ? visible.slice(0, MAX_DISPLAY_NAME_CHARACTERS - 1) + "…"
      : visible,
    isVerified: source === "operator",
    ...(source === "document" && { documentHost: new URL(id).host }),
  };
}

/**
 * The user.
 * @param page the path and query of the page, to which another user comes back
 */
export function describeAccount(
  { base }: AuthorizationServer,
  { name, email }: Profile,
  page: string,
): AccountView {
  const action = `${base}/logout?redirect=${encodeURIComponent(page)}`;
  return {
    name,
    email,
    ...(page.length <= MAX_REDIRECT_CHARACTERS && { switchAccount: { action, hidden: {} } }),
  };
}

/** When the access ends. */
export function describeDuration(as: AuthorizationServer, { grant_types }: Client): DurationView {
  const isRenewedByUse = grant_types.includes("refresh_token");
  return { seconds: isRenewedByUse ? as.refreshTokenLifetime : as.accessTokenLifetime, isRenewedByUse };
}

/**
 * Where the code is sent. Of a private-use URI scheme (RFC 8252 §7.1) only the scheme is named: any application may
 * claim it, and the host part of such a URI identifies nothing.
 */
export function describeDestination(redirectUri: string): DestinationView {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== "https:" && protocol !== "http:") return { kind: "scheme", scheme: protocol.slice(0, -1) };
  return { kind: isLoopbackHost(hostname) ? "device_host" : "host", host };
}
