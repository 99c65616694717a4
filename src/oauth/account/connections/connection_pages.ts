/**
 * The pages of connections to upstreams of the gateway: the list, the consent before a connection, and its end.
 *
 * @module
 */
import { html, type Markup } from "../../../http/page.ts";
import { hiddenFields, inputField, problemNote } from "../../pages/parts.ts";
import type { PageContent, Writers, Writing } from "../../pages/page_module.ts";
import { fill, fillText } from "../../pages/text.ts";
import { dayOf, doneNote } from "../account_parts.ts";
import type {
  ConnectionConnectView,
  ConnectionDisconnectView,
  ConnectionPageView,
  ConnectionRefusedView,
  ConnectionsView,
  ConnectionView,
} from "./connection_views.ts";
import type { ConnectionTexts } from "./texts_en.ts";

type ConnectionWriting = Writing<ConnectionTexts>;

export const WRITERS: Writers<ConnectionPageView, ConnectionTexts> = {
  connections: writeConnections,
  connection_connect: writeConnect,
  connection_disconnect: writeDisconnect,
  connection_refused: writeRefused,
};

function writeConnections(
  { account, upstreams, done }: ConnectionsView,
  writing: ConnectionWriting,
): PageContent {
  const { texts } = writing;
  return {
    title: texts.connections,
    isWide: true,
    body: html`
      ${account !== undefined && back(account, texts.connectionsBackToAccount)}
      <h1>${texts.connections}</h1>
      ${doneNote(
        done && {
          connected: texts.connectionsConnectedDone,
          disconnected: texts.connectionsDisconnectedDone,
        }[done],
      )}
      <p class="soft">${upstreams.length > 0 ? texts.connectionsLead : texts.connectionsNone}</p>
      ${upstreams.length > 0 && html`
        <ul class="items">${upstreams.map((each) => upstreamItem(each, writing))}</ul>
      `}
    `,
  };
}

function upstreamItem(view: ConnectionView, { texts, language }: ConnectionWriting): Markup {
  const { upstream, host, kind, connected, isConnected, scopes, connect, disconnect } = view;
  const [text, label] = !isConnected
    ? [texts.connectionsConnect, texts.connectionsConnectOf]
    : kind === "secret"
    ? [texts.connectionsReplace, texts.connectionsReplaceOf]
    : [texts.connectionsAgain, texts.connectionsAgainOf];
  const state = !isConnected
    ? texts.connectionsNotConnected
    : connected === undefined
    ? texts.connectionsConnected
    : fill(texts.connectionsConnectedOn, { date: dayOf(connected, language) });
  return html`
    <li>
      <div><strong>${upstream}</strong><br>
        <span class="soft small">${host} · ${state}${scopes.length > 0 && html`
          · ${fillText(texts.connectionsScopes, { scopes: scopes.join(", ") })}
        `}</span></div>
      <div class="row">
        <a class="button plain small" href="${connect}" aria-label="${fillText(label, {
          upstream,
        })}">${text}</a>
        ${disconnect !== undefined && html`
          <a class="button plain small" href="${disconnect}" aria-label="${fillText(
            texts.connectionsDisconnectOf,
            { upstream },
          )}">${texts.connectionsDisconnect}</a>
        `}
      </div>
    </li>
  `;
}

function writeConnect(view: ConnectionConnectView, { texts, product }: ConnectionWriting): PageContent {
  const { connections, upstream, host, kind, user, form, label, provider, scopes, problem } = view;
  const title = fillText(texts.connectionConnectTitle, { upstream });
  const lead = {
    oauth: texts.connectionConnectLead,
    secret: texts.connectionSecretLead,
    provider: texts.connectionProviderLead,
  }[kind];
  return {
    title,
    body: html`
      ${back(connections, texts.connectionsBack)}
      <h1>${title}</h1>
      ${problemNote(problem && texts.connectionSecretInvalid)}
      <p class="lead">${fill(lead, {
        product,
        upstream: html`<strong>${upstream}</strong>`,
        host: html`<strong>${host}</strong>`,
        user: html`<strong>${user}</strong>`,
        provider: provider?.name ?? "",
      })}</p>
      ${scopes.length > 0 && html`
        <p>${fillText(texts.connectionNewScopes, { upstream })}</p>
        <ul class="access">${scopes.map((scope) => html`<li>${scope}</li>`)}</ul>
      `}
      <p class="note">${texts.connectionOnlyYou}</p>
      ${form && html`
        <form method="post" action="${form.action}">
          ${hiddenFields(form.hidden)}
          ${kind === "secret" && html`
            ${inputField({
              name: "secret",
              label: label ?? texts.connectionSecretLabel,
              type: "password",
              autocomplete: "off",
              isVerbatim: true,
              isInvalid: problem !== undefined,
            })}
            <p class="soft small">${texts.connectionSecretStored}</p>
          `}
          <button class="full">${kind === "secret"
            ? texts.connectionSecretSave
            : fillText(texts.connectionContinue, { upstream })}</button>
        </form>
      `}
      ${provider && html`
        <a class="button full" href="${provider.url}">${fillText(texts.connectionSignIn, {
          provider: provider.name,
        })}</a>
      `}
      <p><a href="${connections}">${texts.connectionCancel}</a></p>
    `,
  };
}

function writeDisconnect(
  { connections, upstream, host, form }: ConnectionDisconnectView,
  { texts, product }: ConnectionWriting,
): PageContent {
  const title = fillText(texts.connectionDisconnectTitle, { upstream });
  return {
    title,
    body: html`
      ${back(connections, texts.connectionsBack)}
      <h1>${title}</h1>
      <p class="lead">${fillText(texts.connectionDisconnectLead, { product, upstream, host })}</p>
      <form method="post" action="${form.action}">
        ${hiddenFields(form.hidden)}
        <button class="danger full">${texts.connectionsDisconnect}</button>
      </form>
      <p><a href="${connections}">${texts.connectionCancel}</a></p>
    `,
  };
}

function writeRefused(view: ConnectionRefusedView, { texts }: ConnectionWriting): PageContent {
  const { connections, upstream = "", code, reason, signOut } = view;
  const text = {
    other_user: texts.connectionRefusedOtherUser,
    link_invalid: texts.connectionRefusedLink,
    session_changed: texts.connectionRefusedSession,
    denied: texts.connectionRefusedDenied,
    failed: texts.connectionRefusedFailed,
  }[code];
  return {
    title: texts.connectionRefusedTitle,
    body: html`
      <h1>${texts.connectionRefusedTitle}</h1>
      <p class="problem" role="alert">${fillText(text, { upstream })}${reason !== undefined && html`
        <code>${reason}</code>
      `}</p>
      ${signOut !== undefined &&
        html`<p><a class="button plain" href="${signOut}">${texts.connectionSwitchUser}</a></p>`}
      <p><a href="${connections}">${texts.connectionToList}</a></p>
    `,
  };
}

function back(url: string, text: string): Markup {
  return html`<p class="back"><a href="${url}">${text}</a></p>`;
}
