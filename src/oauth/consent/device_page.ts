/**
 * The pages at `/device`: the form for the user code, the question, and the outcome
 * (https://www.rfc-editor.org/rfc/rfc8628#section-3.3).
 *
 * @module
 */
import { html, type Markup, respondPage } from "../../http/page.ts";
import type { Fields } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type FormProblem, showProblem } from "../endpoints/form_problem.ts";
import type { Client, DeviceCode, Profile } from "../records.ts";
import { describeAccess, describeTrust, displayName } from "./access_description.ts";
import { decisionForm } from "./decision_form.ts";

/** The form for the user code. @param typed what the field shows */
export function userCodePage(as: AuthorizationServer, typed: string, problem?: FormProblem): Response {
  return devicePage({
    title: "Connect a device",
    status: problem?.status ?? 200,
    fields: problem?.fields ?? [],
    body: html`
      <h1>Connect a device</h1>
      <p>Enter the code that your device shows.</p>
      ${showProblem(problem)}
      <form method="post" action="${as.base + "/device"}">
        <label for="user_code">Code</label>
        <input id="user_code" name="user_code" value="${typed}" autocomplete="off" autocapitalize="characters"
          spellcheck="false" required autofocus>
        <button>Continue</button>
      </form>
    `,
  });
}

export interface DeviceQuestion {
  readonly client: Client;
  readonly user: Profile;
  readonly device: DeviceCode;
  /** The part of the requested scope that the user may grant. */
  readonly scope: string;
  readonly transactionToken: string;
}

/** 200 with the form to allow or deny the device. */
export function deviceConsentPage(
  as: AuthorizationServer,
  { client, user, device, scope, transactionToken }: DeviceQuestion,
): Response {
  return devicePage({
    title: "Connect a device?",
    body: html`
      <h1>${displayName(client)} asks for access on a device</h1>
      <p>You are signed in as <strong>${user.name}</strong>. Check that your device shows the code
      <strong>${device.user_code}</strong>. If you allow access, the device can:</p>
      ${describeAccess(as, { ...device, scope }, new Set())}
      <p
        class="note">Allow access only if the device is yours and you started this request. If someone sent you this
      code, deny access.</p>
      ${describeTrust(client)}
      ${decisionForm(as.base + "/device", transactionToken)}
    `,
  });
}

export function deviceConnectedPage(): Response {
  return devicePage({
    title: "Device connected",
    body: html`
      <h1>Device connected</h1>
      <p>You can close this page and continue on your device.</p>
    `,
  });
}

export function deviceDeniedPage(): Response {
  return devicePage({
    title: "Access denied",
    body: html`
      <h1>Access denied</h1>
      <p>The device got no access. You can close this page.</p>
    `,
  });
}

function devicePage(page: { title: string; body: Markup; status?: number; fields?: Fields }): Response {
  // No form of these pages redirects to another site.
  return respondPage({ ...page, formAction: "'self'" });
}
