/**
 * Peers that lack some of the measured operations, or whose store is not a Map.
 *
 * @module
 */
import type { Peer } from "./peer_process.ts";

const NO_GRANT = "it has no grant client_credentials";

export const MORE_PEERS: readonly Peer[] = [
  {
    name: "better-auth",
    file: "serve_better_auth.ts",
    packages: [
      "better-auth",
      "@better-auth/oauth-provider",
      "better-auth/plugins/jwt",
      "better-auth/node",
      "better-auth/db/migration",
    ],
    authorize: "/api/auth/oauth2/authorize",
    token: "/api/auth/oauth2/token",
    introspect: "/api/auth/oauth2/introspect",
    // It issues refresh tokens only for this scope.
    scope: "read offline_access",
    codesPerMs: 4,
    lacks: {
      memory: "its records are in SQLite, outside the heap that is measured",
      stored: "it issues some hundred tokens per second, so storing many takes too long",
    },
  },
  {
    name: "workers-oauth-provider",
    file: "serve_workers_oauth.ts",
    packages: ["@cloudflare/workers-oauth-provider"],
    authorize: "/authorize",
    token: "/token",
    introspect: "/introspect",
    codesPerMs: 4,
    lacks: {
      client_credentials: NO_GRANT,
      introspection: "it has no introspection endpoint",
      memory: NO_GRANT,
      stored: NO_GRANT,
    },
  },
];
