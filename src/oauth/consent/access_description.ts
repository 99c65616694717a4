/**
 * What the user reads before deciding: who asks, for what access, for how long, and where the browser goes next.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { describeAuthorizationDetails } from "../grants/authorization_details.ts";
import { findResourceSettings } from "../grants/resource.ts";
import { expandScopes } from "../grants/scope.ts";
import type { Authorization, Client } from "../records.ts";

const MAX_DISPLAY_NAME_CHARACTERS = 80;

/**
 * The requested access as a list: new scopes and details first, then the scopes that the user allowed before.
 * @param allowed the scopes that the user allowed before
 */
export function describeAccess(
  as: AuthorizationServer,
  { scope, resource, authorization_details }: Omit<Authorization, "client_id">,
  allowed: ReadonlySet<string>,
): Markup {
  const item = (text: string) => html`<li>${text}</li>`;
  const scopeItem = (each: string) => item(as.descriptions.get(each) ?? each);
  // Implied scopes are granted too, so the user sees them.
  const scopes = [...expandScopes(as, scope.split(" "))];
  const allowedScopes = scopes.filter((each) => allowed.has(each));
  const newScopes = scopes.filter((each) => !allowed.has(each));
  const details = describeAuthorizationDetails(as, authorization_details);
  const resources = findResourceSettings(as, resource);
  return html`
    ${newScopes.length + details.length > 0 && html`
      <ul>${[...newScopes.map(scopeItem), ...details.map(item)]}</ul>
    `}
    ${allowedScopes.length > 0 && html`
      <p class="soft">Already allowed:</p>
      <ul class="soft">${allowedScopes.map(scopeItem)}</ul>
    `}
    ${resources.length > 0 && html`
      <p>The access applies to <strong>${resources.map(({ name, resource }) => name ?? resource).join(
        ", ",
      )}</strong>.</p>
    `}
  `;
}

/** A warning that the client named itself (RFC 7591 §5); false for clients that the operator registered. */
export function describeTrust({ id, source }: Client): Markup | false {
  if (source === "operator") return false;
  const document = source === "document" && html`
    This application is described at <strong>${new URL(id).host}</strong>.
  `;
  return html`
    <p class="note">${document}This name has not been verified. Allow access only if you started this request
    yourself, in an application that you trust.</p>
  `;
}

/** When the access ends. */
export function describeDuration(as: AuthorizationServer, { grant_types }: Client): Markup {
  return grant_types.includes("refresh_token")
    ? html`<p class="soft">Access ends after ${toDuration(as.refreshTokenLifetime)} without use.</p>`
    : html`<p class="soft">Access ends after ${toDuration(as.accessTokenLifetime)}.</p>`;
}

function toDuration(seconds: number): string {
  const [amount, unit] = seconds >= 2 * 86_400
    ? [Math.round(seconds / 86_400), "day"]
    : seconds >= 2 * 3600
    ? [Math.round(seconds / 3600), "hour"]
    : [Math.max(1, Math.round(seconds / 60)), "minute"];
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}

/**
 * The client's name on one line, without invisible characters and characters that reverse the text direction. The name
 * of a client that named itself is in quotes.
 */
export function displayName({ name, id, source }: Client): string {
  const visible = name.replace(/[\p{C}\p{Z}\s]+/gu, " ").trim() || id;
  const short = visible.length > MAX_DISPLAY_NAME_CHARACTERS
    ? visible.slice(0, MAX_DISPLAY_NAME_CHARACTERS - 1) + "…"
    : visible;
  return source === "operator" ? short : `“${short}”`;
}

/**
 * Where the code is sent. Of a private-use URI scheme (RFC 8252 §7.1) only the scheme is shown: any application may
 * claim it, and the host part of such a URI identifies nothing.
 */
export function describeDestination(redirectUri: string): Markup {
  const { protocol, host } = new URL(redirectUri);
  return protocol === "https:" || protocol === "http:"
    ? html`<p>You will be redirected to <strong>${host}</strong>.</p>`
    : html`
      <p>You will be redirected to <strong>an application on this device</strong> that opens
      <strong>${protocol}</strong> links.</p>
    `;
}
