/**
 * The English texts of the pages of connections. `{name}` stands for a value that the page inserts.
 *
 * @module
 */

export const TEXTS = {
  connections: "Connections",
  connectionsBackToAccount: "Account",
  connectionsBack: "Connections",
  connectionsLead: "Services that this server uses in your name. You can end a connection at any time.",
  connectionsNone: "There are no services to connect.",
  connectionsConnectedOn: "Connected on {date}",
  connectionsConnected: "Connected",
  connectionsNotConnected: "Not connected",
  connectionsScopes: "Permissions: {scopes}",
  connectionsConnect: "Connect",
  connectionsConnectOf: "Connect: {upstream}",
  connectionsAgain: "Connect again",
  connectionsAgainOf: "Connect again: {upstream}",
  connectionsReplace: "Replace the secret",
  connectionsReplaceOf: "Replace the secret: {upstream}",
  connectionsDisconnect: "Disconnect",
  connectionsDisconnectOf: "Disconnect: {upstream}",
  connectionsConnectedDone: "Connected. You can go back to your application.",
  connectionsDisconnectedDone: "Disconnected.",

  connectionConnectTitle: "Connect {upstream}?",
  connectionConnectLead:
    "{product} will use {upstream} ({host}) in the name of {user}, with the account that you choose there.",
  connectionSecretLead: "{product} will use {upstream} ({host}) in the name of {user}, with this secret.",
  connectionProviderLead:
    "{product} uses {upstream} ({host}) with your sign-in at {provider}. Sign in there again to connect it.",
  connectionNewScopes: "{upstream} asks for these permissions:",
  connectionOnlyYou: "Continue only if you started this yourself.",
  connectionContinue: "Continue to {upstream}",
  connectionSecretLabel: "Secret",
  connectionSecretSave: "Save",
  connectionSecretStored: "It is stored encrypted and is never shown again.",
  connectionSecretInvalid: "Enter the secret without line breaks: 1 to 4096 printable ASCII characters.",
  connectionSignIn: "Sign in with {provider}",
  connectionCancel: "Cancel",

  connectionDisconnectTitle: "Disconnect {upstream}?",
  connectionDisconnectLead:
    "{product} will no longer use {upstream} ({host}) in your name. Its access there is revoked.",

  connectionRefusedTitle: "Not connected",
  connectionRefusedOtherUser: "This link was made for another user. Sign in as that user to continue.",
  connectionRefusedLink: "This link is invalid or has expired. Connect the service from the list.",
  connectionRefusedSession: "This answer belongs to another browser session. Start the connection again.",
  connectionRefusedDenied: "{upstream} was not connected, because access was denied there.",
  connectionRefusedFailed:
    "{upstream} could not be connected. Try again later, or tell the operator this code:",
  connectionSwitchUser: "Sign out",
  connectionToList: "To your connections",
};

export type ConnectionTexts = Readonly<Record<keyof typeof TEXTS, string>>;
