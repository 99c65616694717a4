/**
 * `trivet/admin`: the administration of a server over HTTP, for the option `admin` of `createTrivet`.
 *
 * @module
 */
import { loadOnDemand } from "../http/load_on_demand.ts";
import { adminClient } from "./client.ts";
import type { AdminOption } from "./option.ts";
import { createToolCounts } from "./tool_counts.ts";

/**
 * The administration: an API below `/admin`, for access tokens and API keys with the scope `admin`. It is loaded with its
 * first request.
 *
 * ```ts
 * createTrivet({ issuer, store, admin: admin() });
 * ```
 */
export function admin(): AdminOption {
  return {
    client: adminClient,
    countTools: createToolCounts,
    createService(server) {
      const fetch = loadOnDemand(async () => {
        const { createAdminService } = await import("./service.ts");
        const service = createAdminService(server);
        return (...call: Parameters<typeof service.fetch>) => service.fetch(...call);
      });
      return {
        mounts: ["admin"],
        fetch: (request, context = {}) => fetch(request, context),
        refuseLimited: async (_, error) => (await import("./service.ts")).respondLimited(error),
      };
    },
  };
}

export type { AdminOption, AdminServer } from "./option.ts";
