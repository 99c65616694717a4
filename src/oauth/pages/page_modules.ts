/**
 * The page modules by view: which one writes a page. A view without a module does not compile.
 *
 * @module
 */
import type { MailPageTexts } from "../mail/pages.ts";
import type { MailPageView } from "../mail/views.ts";
import type { SignUpPageTexts } from "../sign_up/pages.ts";
import type { SignUpPageView } from "../sign_up/views.ts";
import type { FactorView } from "../factors/pages/factor_views.ts";
import type { FactorTexts } from "../factors/pages/texts_en.ts";
import type { AccountPageView } from "../account/account_views.ts";
import type { AccountTexts } from "../account/texts_en.ts";
import type { ConnectionPageView } from "../account/connections/connection_views.ts";
import type { ConnectionTexts } from "../account/connections/texts_en.ts";
import type { ApprovalPageView } from "../approvals/approval_views.ts";
import type { ApprovalPageTexts } from "../approvals/write_approval.ts";
import type { BasicView } from "./basic_views.ts";
import { definePageModule, type PageModule } from "./page_module.ts";
import type { BasicTexts } from "./texts_en.ts";
import type { View } from "./views.ts";

const basic = definePageModule<BasicView, BasicTexts>({
  texts: { en: () => import("./texts_en.ts"), de: () => import("./texts_de.ts") },
  writers: () => import("./basic_pages.ts"),
});

const mail = definePageModule<MailPageView, MailPageTexts>({
  texts: {
    en: () => merge(import("./texts_en.ts"), import("../mail/texts_en.ts")),
    de: () => merge(import("./texts_de.ts"), import("../mail/texts_de.ts")),
  },
  writers: () => import("../mail/pages.ts"),
});

const signUp = definePageModule<SignUpPageView, SignUpPageTexts>({
  texts: {
    en: () =>
      merge(
        merge(import("./texts_en.ts"), import("../mail/texts_en.ts")),
        import("../sign_up/texts_en.ts"),
      ),
    de: () =>
      merge(
        merge(import("./texts_de.ts"), import("../mail/texts_de.ts")),
        import("../sign_up/texts_de.ts"),
      ),
  },
  writers: () => import("../sign_up/pages.ts"),
});

/** The texts of a page module that also uses those of another. */
async function merge<First, Second>(
  first: Promise<{ readonly TEXTS: First }>,
  second: Promise<{ readonly TEXTS: Second }>,
): Promise<{ readonly TEXTS: First & Second }> {
  return { TEXTS: { ...(await first).TEXTS, ...(await second).TEXTS } };
}

const factors = definePageModule<FactorView, FactorTexts>({
  texts: {
    en: () => import("../factors/pages/texts_en.ts"),
    de: () => import("../factors/pages/texts_de.ts"),
  },
  writers: () => import("../factors/pages/factor_pages.ts"),
});

const account = definePageModule<AccountPageView, AccountTexts>({
  texts: { en: () => import("../account/texts_en.ts"), de: () => import("../account/texts_de.ts") },
  writers: () => import("../account/account_pages.ts"),
});

const connections = definePageModule<ConnectionPageView, ConnectionTexts>({
  texts: {
    en: () => import("../account/connections/texts_en.ts"),
    de: () => import("../account/connections/texts_de.ts"),
  },
  writers: () => import("../account/connections/connection_pages.ts"),
});

const approvals = definePageModule<ApprovalPageView, ApprovalPageTexts>({
  texts: {
    en: () => merge(import("./texts_en.ts"), import("../approvals/texts_en.ts")),
    de: () => merge(import("./texts_de.ts"), import("../approvals/texts_de.ts")),
  },
  writers: () => import("../approvals/write_approval.ts"),
});

export const PAGE_MODULES: { readonly [Name in View["name"]]: PageModule } = {
  sign_in: basic,
  sign_in_failed: basic,
  signed_in: basic,
  sign_out: basic,
  signed_out: basic,
  consent: basic,
  device_code: basic,
  device_consent: basic,
  device_connected: basic,
  device_denied: basic,
  form_post: basic,
  error: basic,
  home: basic,
  forgot_password: mail,
  reset_sent: mail,
  reset_password: mail,
  reset_done: mail,
  verify_email: mail,
  email_verified: mail,
  link_refused: mail,
  sign_up: signUp,
  sign_up_sent: signUp,
  sign_up_confirm: signUp,
  sign_up_refused: signUp,
  second_factor: factors,
  factors,
  totp_setup: factors,
  passkey_setup: factors,
  recovery_codes: factors,
  account,
  account_profile: account,
  account_email: account,
  account_password: account,
  account_sessions: account,
  account_applications: account,
  account_providers: account,
  account_data: account,
  account_delete: account,
  account_deleted: account,
  connections,
  connection_connect: connections,
  connection_disconnect: connections,
  connection_refused: connections,
  approval: approvals,
  approval_given: approvals,
  approval_refused: approvals,
  allowed_calls: approvals,
};
