/**
 * Which function writes which of the account pages.
 *
 * @module
 */
import type { Writers } from "../pages/page_module.ts";
import { writeApplications, writeProviders, writeSessions } from "./access_pages.ts";
import type { AccountPageView } from "./account_views.ts";
import { writeData, writeDelete, writeDeleted } from "./data_pages.ts";
import { writeEmail, writeOverview, writePassword, writeProfile } from "./profile_pages.ts";
import type { AccountTexts } from "./texts_en.ts";

export const WRITERS: Writers<AccountPageView, AccountTexts> = {
  account: writeOverview,
  account_profile: writeProfile,
  account_email: writeEmail,
  account_password: writePassword,
  account_sessions: writeSessions,
  account_applications: writeApplications,
  account_providers: writeProviders,
  account_data: writeData,
  account_delete: writeDelete,
  account_deleted: writeDeleted,
};
