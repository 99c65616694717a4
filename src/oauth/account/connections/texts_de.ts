/**
 * The German texts of the pages of connections.
 *
 * @module
 */
import type { ConnectionTexts } from "./texts_en.ts";

export const TEXTS: ConnectionTexts = {
  connections: "Verbindungen",
  connectionsBackToAccount: "Konto",
  connectionsBack: "Verbindungen",
  connectionsLead:
    "Dienste, die dieser Server in Ihrem Namen nutzt. Sie können eine Verbindung jederzeit beenden.",
  connectionsNone: "Es gibt keine Dienste, die Sie verbinden können.",
  connectionsConnectedOn: "Verbunden am {date}",
  connectionsConnected: "Verbunden",
  connectionsNotConnected: "Nicht verbunden",
  connectionsScopes: "Berechtigungen: {scopes}",
  connectionsConnect: "Verbinden",
  connectionsConnectOf: "Verbinden: {upstream}",
  connectionsAgain: "Neu verbinden",
  connectionsAgainOf: "Neu verbinden: {upstream}",
  connectionsReplace: "Geheimnis ersetzen",
  connectionsReplaceOf: "Geheimnis ersetzen: {upstream}",
  connectionsDisconnect: "Trennen",
  connectionsDisconnectOf: "Trennen: {upstream}",
  connectionsConnectedDone: "Verbunden. Sie können zu Ihrer Anwendung zurückkehren.",
  connectionsDisconnectedDone: "Getrennt.",

  connectionConnectTitle: "{upstream} verbinden?",
  connectionConnectLead:
    "{product} wird {upstream} ({host}) im Namen von {user} nutzen, mit dem Konto, das Sie dort wählen.",
  connectionSecretLead:
    "{product} wird {upstream} ({host}) im Namen von {user} nutzen, mit diesem Geheimnis.",
  connectionProviderLead:
    "{product} nutzt {upstream} ({host}) mit Ihrer Anmeldung bei {provider}. Melden Sie sich dort erneut an, um es zu verbinden.",
  connectionNewScopes: "{upstream} bittet um diese Berechtigungen:",
  connectionOnlyYou: "Fahren Sie nur fort, wenn Sie dies selbst begonnen haben.",
  connectionContinue: "Weiter zu {upstream}",
  connectionSecretLabel: "Geheimnis",
  connectionSecretSave: "Speichern",
  connectionSecretStored: "Es wird verschlüsselt gespeichert und nie wieder angezeigt.",
  connectionSecretInvalid:
    "Geben Sie das Geheimnis ohne Zeilenumbrüche ein: 1 bis 4096 druckbare ASCII-Zeichen.",
  connectionSignIn: "Mit {provider} anmelden",
  connectionCancel: "Abbrechen",

  connectionDisconnectTitle: "{upstream} trennen?",
  connectionDisconnectLead:
    "{product} wird {upstream} ({host}) nicht mehr in Ihrem Namen nutzen. Der Zugriff dort wird widerrufen.",

  connectionRefusedTitle: "Nicht verbunden",
  connectionRefusedOtherUser:
    "Dieser Link wurde für einen anderen Benutzer erstellt. Melden Sie sich als dieser Benutzer an, um fortzufahren.",
  connectionRefusedLink: "Dieser Link ist ungültig oder abgelaufen. Verbinden Sie den Dienst aus der Liste.",
  connectionRefusedSession:
    "Diese Antwort gehört zu einer anderen Browser-Sitzung. Beginnen Sie die Verbindung erneut.",
  connectionRefusedDenied: "{upstream} wurde nicht verbunden, weil der Zugriff dort verweigert wurde.",
  connectionRefusedFailed:
    "{upstream} konnte nicht verbunden werden. Versuchen Sie es später erneut, oder nennen Sie dem Betreiber diesen Code:",
  connectionSwitchUser: "Abmelden",
  connectionToList: "Zu Ihren Verbindungen",
};
