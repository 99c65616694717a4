/**
 * Asks the user for consent to an authorization request.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { AuthorizationTransaction } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Profile } from "../records/user_record.ts";
import { fingerprintClient } from "./consent_memory.ts";
import { createTransaction } from "./transaction.ts";

const showConsent = loadOnDemand(async () => (await import("./show_consent.ts")).showConsent);

/**
 * Stores the transaction and shows the consent page.
 * @param allowed the scopes that the user allowed this client before
 * @param browser the request that the page answers
 * @param ui_locales of the authorization request
 */
export async function askConsent(
  as: AuthorizationServer,
  client: Client,
  user: Profile,
  transaction: AuthorizationTransaction,
  allowed: ReadonlySet<string>,
  browser: Request,
  ui_locales: string | undefined,
): Promise<Response> {
  const transactionToken = await createTransaction(as, {
    ...transaction,
    fingerprint: fingerprintClient(client),
  });
  const { request } = transaction;
  return await showConsent(as, browser, { client, user, request, allowed, transactionToken, ui_locales });
}
