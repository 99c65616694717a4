/**
 * `server.json`, by which a server is published in the MCP registry
 * (https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/generic-server-json.md).
 *
 * @module
 */
import {
  checkRemoteUrl,
  isExactVersion,
  type NamedInput,
  publishedMembers,
  type PublishedServer,
  type ServerInput,
} from "./published_server.ts";

/** A server that is reached over HTTP. */
export interface RemoteServer {
  /** @default "streamable-http" */
  readonly type?: "streamable-http" | "sse";
  /** https; variables in braces are in `variables`. */
  readonly url: string;
  readonly headers?: readonly NamedInput[];
  readonly variables?: Readonly<Record<string, ServerInput>>;
}

/** A package from which clients start the server. */
export interface ServerPackage {
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb` and others. */
  readonly registryType: string;
  /** The name of the package, or the URL of a file. */
  readonly identifier: string;
  /** One version. Images (`oci`) and files (`mcpb`) have it in `identifier`. */
  readonly version?: string;
  readonly registryBaseUrl?: string;
  /** SHA-256 of the file in hexadecimal; required for `mcpb`. */
  readonly fileSha256?: string;
  /** The program that runs the package, such as `npx`. */
  readonly runtimeHint?: string;
  /** @default stdio */
  readonly transport?: { readonly type: "stdio" } | (RemoteServer & { readonly type: string });
  readonly runtimeArguments?: readonly PackageArgument[];
  readonly packageArguments?: readonly PackageArgument[];
  readonly environmentVariables?: readonly NamedInput[];
}

/** An argument of a command line. */
export type PackageArgument =
  & Omit<NamedInput, "name">
  & { readonly isRepeated?: boolean }
  & (
    | { readonly type: "named"; readonly name: string }
    | { readonly type: "positional"; readonly valueHint?: string }
  );

/** Options of {@linkcode serverJson}. */
export interface ServerJsonOptions extends PublishedServer {
  readonly remotes?: readonly RemoteServer[];
  readonly packages?: readonly ServerPackage[];
  /** What the publisher adds (`io.modelcontextprotocol.registry/publisher-provided`). */
  readonly publisherProvided?: Readonly<Record<string, unknown>>;
}

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const DOCUMENT = "server.json";

/**
 * Makes the document that `mcp-publisher` sends to the registry: write it as `server.json`.
 * @throws {TypeError} naming the member and the rule that it breaks
 */
export function serverJson(options: ServerJsonOptions): Record<string, unknown> {
  const { remotes = [], packages = [], publisherProvided } = options;
  if (remotes.length + packages.length === 0) {
    throw new TypeError(`Cannot make ${DOCUMENT}: it must have remotes or packages`);
  }
  for (const { url } of remotes) checkRemoteUrl(DOCUMENT, url);
  packages.forEach(checkPackage);
  return {
    $schema: SCHEMA,
    ...publishedMembers(DOCUMENT, options),
    ...(remotes.length > 0 && {
      remotes: remotes.map(({ type = "streamable-http", ...rest }) => ({ type, ...rest })),
    }),
    ...(packages.length > 0 && {
      packages: packages.map(({ transport = { type: "stdio" as const }, ...rest }) => ({
        ...rest,
        transport,
      })),
    }),
    ...(publisherProvided && {
      _meta: { "io.modelcontextprotocol.registry/publisher-provided": publisherProvided },
    }),
  };
}

function checkPackage(each: ServerPackage): void {
  const { registryType, identifier, version, fileSha256, runtimeArguments = [], packageArguments = [] } =
    each;
  const refuse = (rule: string): never => {
    throw new TypeError(`Cannot make ${DOCUMENT}: the package "${identifier}" must ${rule}`);
  };
  if (!registryType) refuse('have a registryType such as "npm"');
  if (!identifier) refuse("have an identifier");
  if (version !== undefined && !isExactVersion(version)) refuse('have one version, such as "1.0.2"');
  if (registryType === "mcpb" && fileSha256 === undefined) refuse("have fileSha256");
  if (fileSha256 !== undefined && !/^[a-f0-9]{64}$/.test(fileSha256)) {
    refuse("have fileSha256 in hexadecimal");
  }
  if (runtimeArguments.length > 0 && !each.runtimeHint) refuse("have runtimeHint with runtimeArguments");
  for (const argument of [...runtimeArguments, ...packageArguments]) {
    const isComplete = argument.type === "named"
      ? !!argument.name
      : argument.valueHint !== undefined || argument.value !== undefined;
    if (!isComplete) refuse("have arguments with a name, a valueHint or a value");
  }
}
