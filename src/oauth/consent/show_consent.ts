/**
 * Shows the page that asks the user to consent to an authorization request
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1).
 *
 * @module
 */
import { pathOf, queryOf } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { chooseLanguage } from "../pages/language.ts";
import { showPage } from "../pages/page.ts";
import type { AuthorizationRequest } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Profile } from "../records/user_record.ts";
import { askedScopes } from "./consent_memory.ts";
import {
  describeAccess,
  describeAccount,
  describeApplication,
  describeDestination,
  describeDuration,
} from "./access_description.ts";

export interface ConsentQuestion {
  readonly client: Client;
  readonly user: Profile;
  readonly request: AuthorizationRequest;
  /** The scopes that the user allowed this client before. */
  readonly allowed: ReadonlySet<string>;
  readonly transactionToken: string;
  /** Of the authorization request: the languages that the user prefers. */
  readonly ui_locales: string | undefined;
}

/**
 * 200 with the form to allow or deny the request.
 * @param browser the request that the page answers
 */
export async function showConsent(
  as: AuthorizationServer,
  browser: Request,
  { client, user, request, allowed, transactionToken, ui_locales }: ConsentQuestion,
): Promise<Response> {
  const language = chooseLanguage(browser, ui_locales, as.pages.defaultLanguage);
  return await showPage(as, browser, {
    name: "consent",
    action: as.base + "/oauth/authorize",
    hidden: { transaction: transactionToken },
    application: describeApplication(client),
    account: describeAccount(as, user, `${pathOf(browser.url)}?${queryOf(browser.url)}`),
    access: await describeAccess(
      as,
      language,
      { ...request, scope: askedScopes(request).join(" ") },
      allowed,
    ),
    destination: describeDestination(request.redirect_uri),
    duration: describeDuration(as, client),
  }, { ui_locales });
}
