/**
 * The URIs of an upstream's resources as clients see them: `upstream://NAME/URI`, so that no upstream can take the place of
 * another one or of the server's own resources. The rest is the upstream's URI as it is, also in a template. `ui://REST`
 * becomes `ui://NAME/REST`, since hosts of MCP Apps require this scheme.
 *
 * @module
 */

/** Maps the URIs of one upstream in both directions. */
export interface UriMap {
  /** The URI or URI template that clients see. */
  toPublic(uri: string): string;
  /** The upstream's URI; `undefined` for one of another server. */
  toOriginal(uri: string): string | undefined;
  /** The template of all URIs that clients see; `undefined` where the upstream keeps its URIs. */
  readonly all: string | undefined;
  /** As `all`, for the apps of its tools (`ui://`). */
  readonly apps: string | undefined;
}

const SCHEME = "upstream://";
const UI = "ui://";

/** Keeps the URIs, for an upstream without a prefix. */
export const KEPT_URIS: UriMap = {
  toPublic: (uri) => uri,
  toOriginal: (uri) => uri,
  all: undefined,
  apps: undefined,
};

/** The URIs of the upstream of this name. */
export function createUriMap(name: string): UriMap {
  const authority = encodeURIComponent(name).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const head = `${SCHEME}${authority}/`;
  const uiHead = `${UI}${authority}/`;
  return {
    toPublic: (uri) => uri.startsWith(UI) ? uiHead + uri.slice(UI.length) : head + uri,
    toOriginal: (uri) =>
      uri.startsWith(head)
        ? uri.slice(head.length)
        : uri.startsWith(uiHead)
        ? UI + uri.slice(uiHead.length)
        : undefined,
    all: `${head}{+uri}`,
    apps: `${uiHead}{+uri}`,
  };
}
