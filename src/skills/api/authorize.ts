/**
 * Authenticates the caller of the Skills service and checks the scope, the API revision and the workspace of a request.
 *
 * @module
 */
import { bearerChallenge, TokenRefusal } from "../../http/bearer.ts";
import type { IdentifyCaller, Principal } from "../../http/principal.ts";
import type { RequestContext } from "../../http/service.ts";
import { betasOf, type Dialect } from "./dialect.ts";
import { quoteInput, SkillError } from "../error.ts";

export interface AuthorizeOptions {
  readonly identify: IdentifyCaller;
  readonly auth: "required" | "off";
  /** URL of the RFC 9728 document, for challenges. */
  readonly resourceMetadata?: string | undefined;
  /** What happens to unknown values of `anthropic-beta`. */
  readonly unknownBetas: "ignore" | "refuse";
}

/** The permission that an endpoint needs. */
export interface Need {
  readonly may: (principal: Principal) => boolean;
  /** The scope in challenges and errors. */
  readonly scope: string;
}

/** Accepted values of `anthropic-version`. */
const VERSIONS = new Set(["2023-06-01", "2026-10-21"]);
const BETAS = new Set(["skills-2025-10-02", "code-execution-2025-08-25", "files-api-2025-04-14"]);
/** The caller when authentication is off. */
const ANYBODY: Principal = { workspace: "default", scopes: new Set(["skills:write"]) };

export type Authorize = (
  request: Request,
  context: RequestContext,
  dialect: Dialect,
  need: Need,
) => Promise<Principal>;

/** Creates a function that returns the caller, or throws {@linkcode SkillError}. */
export function createAuthorize(options: AuthorizeOptions): Authorize {
  const { identify, auth, resourceMetadata: resource_metadata, unknownBetas } = options;

  async function authorize(
    request: Request,
    context: RequestContext,
    { may, scope }: Need,
  ): Promise<Principal> {
    if (auth === "off") return ANYBODY;
    const caller = await identify(request, context);
    if (caller === "none") {
      throw new SkillError(
        "authentication_error",
        "Authentication required. Send an API key in x-api-key, or an access token in authorization.",
        {
          fields: [["www-authenticate", bearerChallenge({ scope, resource_metadata })]],
        },
      );
    }
    if (caller instanceof TokenRefusal) {
      throw new SkillError("authentication_error", caller.description, {
        fields: caller.challenge({ resource_metadata }),
      });
    }
    await context.limitCaller?.(caller);
    if (!may(caller)) {
      throw new SkillError("permission_error", `Insufficient scope. Required: ${scope}.`, {
        fields: [[
          "www-authenticate",
          bearerChallenge({ error: "insufficient_scope", scope, resource_metadata }),
        ]],
      });
    }
    return caller;
  }

  return async (request, context, dialect, need) => {
    if (dialect.name !== "openai") checkRevision(request.headers, unknownBetas);
    const principal = await authorize(request, context, need);
    const workspace = request.headers.get("anthropic-workspace-id");
    if (workspace !== null && workspace !== principal.workspace) {
      throw new SkillError(
        "permission_error",
        "anthropic-workspace-id must be the workspace of the API key or access token",
      );
    }
    return principal;
  };
}

/**
 * Checks again that the token or key is valid: a client can hold back its body until after the credentials were revoked.
 * @throws {SkillError} 401
 */
export async function checkStillValid(
  { isStillValid }: Principal,
  { resourceMetadata: resource_metadata }: Pick<AuthorizeOptions, "resourceMetadata">,
): Promise<void> {
  if (await isStillValid?.() ?? true) return;
  const refusal = new TokenRefusal("invalid_token", "The access token or API key is no longer valid");
  throw new SkillError("authentication_error", refusal.description, {
    fields: refusal.challenge({ resource_metadata }),
  });
}

function checkRevision(headers: Headers, unknownBetas: AuthorizeOptions["unknownBetas"]): void {
  const version = headers.get("anthropic-version");
  if (version !== null && !VERSIONS.has(version)) {
    throw new SkillError(
      "invalid_request_error",
      `anthropic-version must be one of ${[...VERSIONS].join(", ")}`,
    );
  }
  if (unknownBetas === "ignore") return;
  const unknown = betasOf(headers).find((name) => !BETAS.has(name));
  if (unknown !== undefined) {
    throw new SkillError(
      "invalid_request_error",
      `Unexpected value ${quoteInput(unknown)} for anthropic-beta. Known values: ${[...BETAS].join(", ")}`,
    );
  }
}
