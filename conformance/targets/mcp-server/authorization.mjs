/**
 * Authorization of both HTTP servers of this target: the access tokens, as an authorization server would issue them, and
 * the protected resource metadata.
 */
import {
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
} from "@modelcontextprotocol/server";

/** Creates the options of `requireBearerAuth` and the metadata of the resource at `base`/mcp. */
export function createAuthorization(base) {
  const resource = new URL(`${base}/mcp`);
  const tokens = new Map([
    ["good-token-Lw83kd", { clientId: "one", resource }],
    ["other-token-Vr95xc", { clientId: "two", resource }],
    ["foreign-token-Pq72ms", {
      clientId: "one",
      resource: new URL(`${base}/other`),
    }],
  ]);
  return {
    gate: {
      verifier: {
        async verifyAccessToken(token) {
          const known = tokens.get(token);
          if (!known) {
            throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown token");
          }
          return {
            token,
            scopes: ["mcp"],
            expiresAt: Math.floor(Date.now() / 1000) + 3600,
            ...known,
          };
        },
      },
      requiredScopes: ["mcp"],
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
      expectedResource: resource,
    },
    metadata: {
      resourceServerUrl: resource,
      scopesSupported: ["mcp", "files:write"],
      oauthMetadata: {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        response_types_supported: ["code"],
      },
    },
  };
}
