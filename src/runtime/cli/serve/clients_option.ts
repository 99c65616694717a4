/**
 * `--trust-client` and `--redirect-scheme`: what clients that the operator did not register may do.
 *
 * @module
 */
import { checkRedirectScheme, EDITOR_SCHEMES } from "../../../oauth/clients/redirect_uri.ts";
import { listOption, UsageError, type Values } from "../output.ts";

export const CLIENTS_HELP: string =
  `  --trust-client ID    a client that you vouch for: what a user allowed it before is not asked again; may come
                      several times
  --redirect-scheme S  a private-use scheme without a dot that redirect URIs may have, beside those of known editors;
                      may come several times`;

export const CLIENTS_OPTION = {
  "trust-client": { type: "string", multiple: true },
  "redirect-scheme": { type: "string", multiple: true },
} as const;

/** For the options of the authorization server. @throws {UsageError} for a scheme that leads to no application */
export function readClients(values: Values): {
  readonly trustedClients: readonly string[];
  readonly redirectSchemes: readonly string[];
} {
  const schemes = listOption(values, "redirect-scheme") ?? [];
  try {
    schemes.forEach(checkRedirectScheme);
  } catch {
    throw new UsageError(
      `--redirect-scheme must be a scheme of an application, but is "${schemes.join(" ")}"`,
    );
  }
  return {
    trustedClients: listOption(values, "trust-client") ?? [],
    redirectSchemes: [...EDITOR_SCHEMES, ...schemes],
  };
}
