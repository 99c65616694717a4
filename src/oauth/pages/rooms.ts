/**
 * The rooms by view: which module writes a page. A view without a room does not compile.
 *
 * @module
 */
import type { BasicView } from "./basic_views.ts";
import { defineRoom, type Room } from "./room.ts";
import type { BasicTexts } from "./texts_en.ts";
import type { View } from "./views.ts";

const basic = defineRoom<BasicView, BasicTexts>({
  texts: { en: () => import("./texts_en.ts"), de: () => import("./texts_de.ts") },
  writers: () => import("./basic_pages.ts"),
});

export const ROOMS: { readonly [Name in View["name"]]: Room } = {
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
};
