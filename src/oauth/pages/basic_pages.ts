/**
 * Which function writes which of the basic pages.
 *
 * @module
 */
import type { BasicView } from "./basic_views.ts";
import { writeConsent } from "./consent_page.ts";
import {
  writeDeviceCode,
  writeDeviceConnected,
  writeDeviceConsent,
  writeDeviceDenied,
} from "./device_pages.ts";
import { writeError } from "./error_page.ts";
import { writeHome } from "./home_page.ts";
import type { Writers } from "./page_module.ts";
import {
  writeFormPost,
  writeSignedIn,
  writeSignedOut,
  writeSignInFailed,
  writeSignOut,
} from "./session_pages.ts";
import { writeSignIn } from "./sign_in_page.ts";
import type { BasicTexts } from "./texts_en.ts";

export const WRITERS: Writers<BasicView, BasicTexts> = {
  sign_in: writeSignIn,
  sign_in_failed: writeSignInFailed,
  signed_in: writeSignedIn,
  sign_out: writeSignOut,
  signed_out: writeSignedOut,
  consent: writeConsent,
  device_code: writeDeviceCode,
  device_consent: writeDeviceConsent,
  device_connected: writeDeviceConnected,
  device_denied: writeDeviceDenied,
  form_post: writeFormPost,
  error: writeError,
  home: writeHome,
};
