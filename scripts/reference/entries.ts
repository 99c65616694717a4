/**
 * The pages of the API reference and the entries of the package that each describes.
 *
 * @module
 */

export interface Page {
  /** The file, without its ending. */
  readonly name: string;
  readonly title: string;
  /** As `exports` of the package names them. */
  readonly entries: readonly string[];
}

/** Types of the inside, of which an app at most passes on values: they are not described. */
export const INTERNAL: ReadonlySet<string> = new Set(
  `AuthorizationServer Catalog ConvertSchema Convertible Call CallHost FromJsonSchema FromUpstream IdentifyCaller
  IdentityHooks Ledger LoginThrottle Method OAuthService OnWritten PasswordHasher PasswordMemory PasswordQueue
  ProviderDirectory PublicFetch RemoteDocuments Returned SchemaConverter Service Session SigningKeys SkillSource
  SkillsService SkillsServiceOptions StandardResult StorageQuota Throttle ToolServerOptions Unparsed UpstreamAccess
  UpstreamConfiguration Upstreams CreateViews TokenRefusal LaunchUpstream`.split(/\s+/),
);

/** A name that several entries export is described on the first page that has it. */
export const PAGES: readonly Page[] = [
  { name: "oauth", title: "Authorization server", entries: ["./oauth"] },
  { name: "sign-in", title: "Sign-in with identity providers", entries: ["./sign-in", "./passkeys"] },
  { name: "admin", title: "Administration", entries: ["./admin"] },
  { name: "pages", title: "Pages", entries: ["./pages"] },
  { name: "skills", title: "Skills service", entries: ["./skills", "./s3", "./skill-folder"] },
  { name: "mcp", title: "Tool server", entries: ["./mcp"] },
  { name: "openapi", title: "REST APIs as tools", entries: ["./openapi"] },
  { name: "protect", title: "Protected resources", entries: ["./protect"] },
  { name: "gateway", title: "Gateway", entries: ["./gateway", "./code-mode"] },
  { name: "mcp-client", title: "MCP client", entries: ["./mcp-client", "./launch-process"] },
  { name: "rate-limits", title: "Rate limits", entries: ["./rate-limits"] },
  { name: "observability", title: "Logs, audit, metrics", entries: ["./observability", "./opentelemetry"] },
  {
    name: "stores",
    title: "Stores",
    entries: [
      "./store/sqlite",
      "./store/postgres",
      "./store/redis",
      "./store/d1",
      "./store/durable-object",
      "./store/layered",
      "./store/memory",
      "./upgrade",
    ],
  },
  {
    name: "runtimes",
    title: "Runtimes",
    entries: [
      "./node",
      "./node-listener",
      "./hattip-node",
      "./deno",
      "./bun",
      "./workerd",
      "./public-connect",
    ],
  },
  { name: "trivet", title: "All three services", entries: ["."] },
];
