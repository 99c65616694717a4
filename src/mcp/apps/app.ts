/**
 * MCP Apps, the extension `io.modelcontextprotocol/ui`
 * (https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx): a user interface in HTML
 * that hosts show in a sandboxed frame for the results of tools.
 *
 * @module
 */
import { isLoopbackHost } from "../../http/network/loopback.ts";
import type { CallContext } from "../context.ts";
import type { Icon, Meta } from "../definition/content.ts";
import { resource } from "../definition/define.ts";
import type { ResourceDefinition } from "../definition/definition.ts";

/** The media type of the HTML of an app. */
export const APP_TYPE = "text/html;profile=mcp-app";

/** Origins that the app may use. Hosts allow no others, and by default none. */
export interface AppCsp {
  /** For requests of scripts (`connect-src`): https, wss. */
  readonly connectDomains?: readonly string[];
  /** For scripts, styles, images, fonts and media. */
  readonly resourceDomains?: readonly string[];
  /** For frames in the app (`frame-src`). */
  readonly frameDomains?: readonly string[];
  /** For `<base>` (`base-uri`). */
  readonly baseUriDomains?: readonly string[];
}

/** A feature of the browser that the app asks for. A host may refuse it. */
export type AppPermission = "camera" | "microphone" | "geolocation" | "clipboardWrite";

/** Options of {@linkcode app}. */
export interface AppOptions {
  /** `ui://` and a name of your own, such as `ui://weather/dashboard`. */
  readonly uri: string;
  /** A complete HTML document, which begins with `<!doctype html>`, or a function that returns one. */
  readonly html: string | ((context: CallContext) => string | Promise<string>);
  /** @default the URI without its scheme */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  /** Scopes that the access token must have to read it. */
  readonly scopes?: readonly string[];
  /** Origins that the app may use. @default none */
  readonly csp?: AppCsp;
  /** @default none */
  readonly permissions?: readonly AppPermission[];
  /** An origin of its own for the app, in the form that the host defines. @default one of the host's */
  readonly domain?: string;
  /** Whether the host should draw a border. @default the host decides */
  readonly prefersBorder?: boolean;
}

const PERMISSIONS: readonly unknown[] = ["camera", "microphone", "geolocation", "clipboardWrite"];
const CSP_MEMBERS: readonly string[] = [
  "connectDomains",
  "resourceDomains",
  "frameDomains",
  "baseUriDomains",
];

/**
 * Defines the resource of an app. Pass it to the server, and {@linkcode showIn} to the tools whose results it shows.
 * @throws {TypeError} for a URI of another scheme, or an origin that would change the host's content security policy
 */
export function app(options: AppOptions): ResourceDefinition {
  const { uri, html, csp, permissions = [], domain, prefersBorder } = options;
  if (!/^ui:\/\/[^\s?#]+$/.test(uri) || !URL.canParse(uri)) {
    throw new TypeError(`Cannot define app "${uri}": uri must be a URI such as ui://weather/dashboard`);
  }
  if (csp) checkCsp(uri, csp);
  const unknown = permissions.find((each) => !PERMISSIONS.includes(each));
  if (unknown !== undefined) {
    throw new TypeError(`Cannot define app "${uri}": unknown permission "${unknown}"`);
  }
  if (typeof html === "string") checkHtml(uri, html);
  const ui = {
    ...(csp && { csp }),
    ...(permissions.length > 0 && {
      permissions: Object.fromEntries(permissions.map((each) => [each, {}])),
    }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  };
  const _meta = { ui };
  return resource({
    uri,
    name: options.name ?? uri.slice("ui://".length),
    title: options.title,
    description: options.description,
    icons: options.icons,
    scopes: options.scopes,
    mimeType: APP_TYPE,
    _meta,
    async read(context) {
      const text = typeof html === "string" ? html : checkHtml(uri, await html(context));
      return { contents: [{ uri, mimeType: APP_TYPE, text, _meta }] };
    },
  });
}

/**
 * The `_meta` of a tool whose results an app shows.
 *
 * `visibility`: `["model", "app"]` by default. A tool for the app alone, `["app"]`, is left out of what the model sees by
 * hosts that know the extension; others show it.
 */
export function showIn(
  { uri }: Pick<ResourceDefinition, "uri">,
  visibility?: readonly ("model" | "app")[],
): Meta {
  if (!uri.startsWith("ui://")) {
    throw new TypeError(`Cannot show a tool in "${uri}": it is not made by app()`);
  }
  if (
    visibility && (visibility.length === 0 || visibility.some((each) => each !== "model" && each !== "app"))
  ) {
    throw new TypeError(`Cannot show a tool in "${uri}": visibility must name "model", "app" or both`);
  }
  return { ui: { resourceUri: uri, ...(visibility && { visibility }) } };
}

/** The URI of the app that shows the results of a tool with this `_meta`. */
export function appOf(_meta: Meta | undefined): string | undefined {
  const ui = _meta?.ui;
  const given = typeof ui === "object" && ui !== null
    ? (ui as { resourceUri?: unknown }).resourceUri
    : undefined;
  // The name until 2026-01.
  const uri = given ?? _meta?.["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : undefined;
}

/** Whether a tool with this `_meta` is for the model. The others are called by their app alone. */
export function isForModel(_meta: Meta | undefined): boolean {
  const ui = _meta?.ui;
  const visibility = typeof ui === "object" && ui !== null
    ? (ui as { visibility?: unknown }).visibility
    : undefined;
  return !Array.isArray(visibility) || visibility.includes("model");
}

/** Hosts write the origins into a header field: a space or ";" in one would add others. */
function checkCsp(uri: string, csp: AppCsp): void {
  for (const [member, origins] of Object.entries(csp)) {
    if (!CSP_MEMBERS.includes(member)) {
      throw new TypeError(`Cannot define app "${uri}": csp has no member "${member}"`);
    }
    for (const origin of origins as readonly string[]) {
      const [, scheme, host] =
        /^(https|http|wss|ws):\/\/((?:\*\.)?[A-Za-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/
          .exec(origin) ?? [];
      const isSecure = scheme === "https" || scheme === "wss" || host !== undefined && isLoopbackHost(host);
      if (!isSecure) {
        throw new TypeError(
          `Cannot define app "${uri}": "${origin}" in csp.${member} must be an origin such as https://cdn.example.com`,
        );
      }
    }
  }
}

function checkHtml(uri: string, html: string): string {
  if (/^\ufeff?\s*(<!--[^]*?-->\s*)*<!doctype html/i.test(html)) return html;
  throw new TypeError(
    `Cannot show app "${uri}": its HTML must be a document that begins with <!doctype html>`,
  );
}
