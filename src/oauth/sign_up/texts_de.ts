/**
 * The German texts of the pages for signing up.
 *
 * @module
 */
import type { SignUpTexts } from "./texts_en.ts";

export const TEXTS: SignUpTexts = {
  signUpTitle: "Konto anlegen",
  signUpAt: "bei {host}",
  signUpName: "Ihr Name (freiwillig)",
  signUpEmail: "E-Mail-Adresse",
  signUpEmailOptional: "E-Mail-Adresse (freiwillig)",
  signUpFixedEmail: "Das Konto erhält die Adresse {email}.",
  signUpPassword: "Passwort (mindestens {count} Zeichen)",
  signUpSubmit: "Konto anlegen",
  signUpQuestionSignIn: "Haben Sie schon ein Konto?",

  usernameLength: "Der Benutzername muss 1 bis 128 Zeichen haben.",
  usernameCharacters: "Der Benutzername darf keine unsichtbaren oder nicht zugewiesenen Zeichen haben.",
  usernameSpaces: "Der Benutzername darf keine zwei Leerzeichen hintereinander haben.",
  usernameScripts: "Der Benutzername darf lateinische, griechische und kyrillische Buchstaben nicht mischen.",
  usernameEmail:
    "Der Benutzername darf kein @-Zeichen enthalten. Für die E-Mail-Adresse gibt es ein eigenes Feld.",
  usernameTaken: "Dieser Benutzername ist vergeben. Wählen Sie einen anderen.",
  emailInvalid: "Geben Sie eine gültige E-Mail-Adresse ein.",

  signUpSentTitle: "Sehen Sie in Ihre E-Mails",
  signUpSentText:
    "Eine E-Mail wurde an {email} gesendet. Öffnen Sie den Link darin innerhalb einer Stunde, um Ihr " +
    "Konto anzulegen.",
  signUpConfirmTitle: "Dieses Konto anlegen?",
  signUpConfirmText: "Das Konto {user} mit der Adresse {email} wird angelegt.",
  signUpConfirmPassword: "Passwort, das Sie gewählt haben",
  signUpConfirmPasswordWhy:
    "Sie haben das Konto in einem anderen Browser angelegt. Geben Sie das Passwort ein, das Sie " +
    "dort gewählt haben. Falls Sie kein Konto angelegt haben, schließen Sie diese Seite.",
  signUpWrongPassword: "Das ist nicht das gewählte Passwort.",

  signUpRefusedTitle: "Es wurde kein Konto angelegt",
  signUpEndedTitle: "Dieser Link gilt nicht mehr",
  signUpEnded:
    "Er wurde schon verwendet, ist abgelaufen oder wurde widerrufen. Wenn Sie Ihr Konto gerade angelegt " +
    "haben, melden Sie sich an.",
  signUpNotInvited:
    "Sie brauchen eine Einladung, um hier ein Konto anzulegen. Wenden Sie sich an den Betreiber " +
    "dieses Servers.",
  signUpNameTaken:
    "Dieser Benutzername wurde inzwischen vergeben. Legen Sie das Konto mit einem anderen Namen an.",
  signUpEmailTaken:
    "Ein anderes Konto hat diese Adresse. Melden Sie sich damit an, oder setzen Sie sein Passwort " +
    "zurück.",
  signUpAgain: "Noch einmal anlegen",
};
