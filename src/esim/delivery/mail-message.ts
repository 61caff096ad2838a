/** The QR e-mail to the customer. */
import { composeMessage, domainOf, escapeHtml } from '../../mail/message.ts'
import type { Sender } from '../../mail/sender.ts'
import { mimeType } from '../../text/qr.ts'

/** The content of the e-mail to the customer. `to` is one bare address; `qrPng` is the picture of `activationCode`. */
export type EsimMail = {
  to: string
  activationCode: string
  qrPng: Buffer
  /** The Ukrainian name; the English half of the e-mail uses `operatorNameEn`. */
  operatorName: string
  operatorNameEn: string
  tariffName: string
  bankName: string
  orderId: string
}

/**
 * Composes the QR e-mail of one order (contract/esim.md, "The e-mail"): a text part and an HTML part, each in Ukrainian
 * and English with the activation code, and the picture as an inline attachment. The Message-ID depends only on the
 * order, so that a mail program shows a repeated message once.
 */
export function composeEsimMail(mail: EsimMail, sender: Sender): Promise<Buffer> {
  const cid = `qr.${mail.orderId}@${domainOf(sender)}`
  return composeMessage({
    sender,
    to: mail.to,
    subject: `Ваша eSIM від ${mail.operatorName} / Your eSIM from ${mail.operatorNameEn}`,
    id: `esim.${mail.orderId}`,
    text: textPart(mail),
    html: htmlPart(mail, cid),
    picture: { filename: 'esim-qr.png', content: mail.qrPng, contentType: mimeType, cid },
  })
}

function textPart(mail: EsimMail): string {
  const { activationCode, operatorName, operatorNameEn, tariffName, bankName, orderId } = mail
  return `Вітаємо!

Ваша eSIM готова до встановлення: ${operatorName}, тариф «${tariffName}». Її придбано через ${bankName}.

У налаштуваннях телефону оберіть додавання eSIM і відскануйте QR-код із цього листа. Якщо відсканувати його не вдається, введіть код активації вручну:

${activationCode}

Не показуйте код стороннім: хто його має, той може встановити вашу eSIM.
Номер замовлення: ${orderId}

----------

Hello!

Your eSIM is ready to install: ${operatorNameEn}, tariff "${tariffName}", bought through ${bankName}.

In your phone's settings choose to add an eSIM and scan the QR code in this message. If you cannot scan it, enter the activation code by hand:

${activationCode}

Please keep the code to yourself: whoever has it can install your eSIM.
Order number: ${orderId}
`
}

function htmlPart(mail: EsimMail, pictureId: string): string {
  const operatorName = escapeHtml(mail.operatorName)
  const operatorNameEn = escapeHtml(mail.operatorNameEn)
  const tariffName = escapeHtml(mail.tariffName)
  const bankName = escapeHtml(mail.bankName)
  const code = `<p><code style="font-size: 16px; word-break: break-all">${escapeHtml(mail.activationCode)}</code></p>`
  const orderId = escapeHtml(mail.orderId)
  return `<!doctype html>
<html lang="uk">
<head><meta charset="utf-8"><title>eSIM</title></head>
<body style="font-family: sans-serif; font-size: 16px; line-height: 1.5">
<p>Вітаємо!</p>
<p>Ваша eSIM готова до встановлення: ${operatorName}, тариф «${tariffName}». Її придбано через ${bankName}.</p>
<p>У налаштуваннях телефону оберіть додавання eSIM і відскануйте QR-код:</p>
<p><img src="cid:${escapeHtml(pictureId)}" width="256" height="256" alt="QR-код / QR code"></p>
<p>Якщо відсканувати його не вдається, введіть код активації вручну:</p>
${code}
<p>Не показуйте код стороннім: хто його має, той може встановити вашу eSIM.<br>Номер замовлення: ${orderId}</p>
<hr>
<div lang="en">
<p>Hello!</p>
<p>Your eSIM is ready to install: ${operatorNameEn}, tariff “${tariffName}”, bought through ${bankName}.</p>
<p>In your phone's settings choose to add an eSIM and scan the QR code above. If you cannot scan it, enter the activation code by hand:</p>
${code}
<p>Please keep the code to yourself: whoever has it can install your eSIM.<br>Order number: ${orderId}</p>
</div>
</body>
</html>
`
}
