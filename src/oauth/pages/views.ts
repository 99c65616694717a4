/**
 * The data of every page: the union of the views of all modules with pages, and their texts.
 *
 * @module
 */
import type { MailTexts } from "../mail/texts_en.ts";
import type { MailPageView } from "../mail/views.ts";
import type { SignUpTexts } from "../sign_up/texts_en.ts";
import type { SignUpPageView } from "../sign_up/views.ts";
import type { FactorView } from "../factors/pages/factor_views.ts";
import type { FactorTexts } from "../factors/pages/texts_en.ts";
import type { AccountPageView } from "../account/account_views.ts";
import type { AccountTexts } from "../account/texts_en.ts";
import type { ConnectionPageView } from "../account/connections/connection_views.ts";
import type { ConnectionTexts } from "../account/connections/texts_en.ts";
import type { ApprovalPageView } from "../approvals/approval_views.ts";
import type { ApprovalTexts } from "../approvals/texts_en.ts";
import type { BasicView } from "./basic_views.ts";
import type { BasicTexts } from "./texts_en.ts";

/** The data of a page. `name` says which page it is. */
export type View =
  | BasicView
  | MailPageView
  | SignUpPageView
  | FactorView
  | AccountPageView
  | ApprovalPageView
  | ConnectionPageView;

/** The texts of every page, by key. `{name}` in a text stands for a value. */
export type Texts =
  & BasicTexts
  & MailTexts
  & SignUpTexts
  & FactorTexts
  & AccountTexts
  & ApprovalTexts
  & ConnectionTexts;
