/**
 * The form that `passkey_script.ts` shows and completes.
 *
 * @module
 */
import { html, type Markup } from "../../../http/page.ts";
import type { PasskeyFormView } from "../../pages/basic_views.ts";
import { hiddenFields } from "../../pages/parts.ts";

/** @param fields before the button @param problem what the script shows when the user used no passkey */
export function passkeyForm(
  { action, hidden, kind, options }: PasskeyFormView,
  { button, problem, fields, isPlain = false }: {
    readonly button: string;
    readonly problem: string;
    readonly fields?: Markup;
    readonly isPlain?: boolean;
  },
): Markup {
  return html`
    <form method="post" action="${action}" data-passkey="${kind}" data-options="${options}" hidden>
      ${hiddenFields({ ...hidden, credential: "" })}
      ${fields}
      <p class="problem" role="alert" data-problem hidden>${problem}</p>
      <button class="full${isPlain && " plain"}">${button}</button>
    </form>
  `;
}
