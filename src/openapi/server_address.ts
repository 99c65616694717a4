/**
 * The address to which requests go: the operator's option, or the first server of the document
 * (https://spec.openapis.org/oas/v3.1.1#server-object). No argument of a call changes its origin.
 *
 * @module
 */
import { isLoopbackHost } from "../http/network/loopback.ts";
import { objectOf, OpenApiError } from "./document.ts";

export interface AddressOptions {
  /** The operator's choice. */
  readonly server: string | URL | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly allowHttp: boolean;
  /** Where the document was loaded from. */
  readonly documentUrl: string | undefined;
}

/**
 * The address of the servers of a document or of one operation, with a path that ends in "/".
 * @throws {OpenApiError} when there is none, or it must be confirmed by the operator
 */
export function readAddress(servers: unknown, options: AddressOptions): URL {
  const { server, documentUrl } = options;
  if (server !== undefined) return check(String(server), undefined, options);
  const first = objectOf(Array.isArray(servers) ? servers[0] : undefined);
  const written = typeof first.url === "string" ? fill(first.url, first.variables, options.variables) : "/";
  const address = check(written, documentUrl, options);
  // Who controls the document must not decide where the credentials go.
  if (documentUrl !== undefined && address.origin !== new URL(documentUrl).origin) {
    throw new OpenApiError(
      `The document names the server ${address.href}, which is not where the document is: set "server" if it is right`,
    );
  }
  return address;
}

/** The address for one operation: its own servers count if they have the origin of the document's. @throws {OpenApiError} */
export function addressOf(base: URL, servers: readonly unknown[] | undefined, options: AddressOptions): URL {
  if (servers === undefined || options.server !== undefined) return base;
  const own = readAddress(servers, options);
  if (own.origin === base.origin) return own;
  throw new OpenApiError(
    `The operation has another server, ${own.origin}: requests go to ${base.origin} only`,
  );
}

function check(text: string, base: string | undefined, { allowHttp }: AddressOptions): URL {
  const url = URL.parse(text, base);
  if (!url) {
    throw new OpenApiError(`The server address ${JSON.stringify(text)} is not a complete URL: set "server"`);
  }
  const isSecure = url.protocol === "https:" ||
    url.protocol === "http:" && (allowHttp || isLoopbackHost(url.hostname));
  if (!isSecure) {
    throw new OpenApiError(
      `The server address ${url.href} must be an https URL (http on loopback): set "allowHttp" for http in your network`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new OpenApiError(
      `The server address ${url.origin}${url.pathname} must have no user name, query or fragment`,
    );
  }
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

/** Server variables: the operator's values, or the defaults. */
function fill(url: string, variables: unknown, values: Readonly<Record<string, string>>): string {
  return url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const { default: standard } = objectOf(
      Object.hasOwn(objectOf(variables), name) ? objectOf(variables)[name] : {},
    );
    const value = Object.hasOwn(values, name) ? values[name] : standard;
    if (typeof value === "string") return value;
    throw new OpenApiError(`The server variable "${name}" has no value: set it in "serverVariables"`);
  });
}
