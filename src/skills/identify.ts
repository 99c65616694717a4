/**
 * Callers of the Skills service: by an API key, or by whatever else identifies them.
 *
 * @module
 */
import { refuseCredentials } from "../http/authenticate.ts";
import { readBearer } from "../http/bearer.ts";
import type { IdentifyCaller } from "../http/principal.ts";
import type { Store } from "../store/store.ts";
import { API_KEY_PREFIX, verifyApiKey } from "./api_key.ts";

/**
 * Identifies the caller by the API key in `x-api-key` or in the `Authorization` field, else by `identify`.
 * @param identify for requests without an API key
 */
export function identifyByApiKey(store: Store, identify: IdentifyCaller | undefined): IdentifyCaller {
  return (request, context = {}) => {
    const key = request.headers.get("x-api-key");
    const field = request.headers.get("authorization");
    if (key !== null || field !== null) return check(request, context, key, field ?? "");
    return identify ? identify(request, context) : "none";
  };

  async function check(
    request: Request,
    context: Parameters<IdentifyCaller>[1],
    key: string | null,
    field: string,
  ): Promise<Awaited<ReturnType<IdentifyCaller>>> {
    if (key !== null) return await verifyApiKey(store, key) ?? refuseCredentials(request);
    if (field.includes(API_KEY_PREFIX)) {
      return await verifyApiKey(store, readBearer(request) ?? "") ?? refuseCredentials(request);
    }
    const caller = await identify?.(request, context) ?? "none";
    return caller === "none" ? refuseCredentials(request) : caller;
  }
}
