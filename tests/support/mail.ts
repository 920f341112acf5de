import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A mail server on loopback that keeps what it receives. */
export interface MailServer {
  readonly url: string;
  readonly mails: { readonly to: string[]; readonly from: string; readonly text: string }[];
  /** Resolves with the next mail that has not been taken yet. */
  take(): Promise<MailServer['mails'][number]>;
  /** Addresses whose mails are refused. */
  readonly refusedRecipients: Set<string>;
  close(): Promise<void>;
}

export async function startMailServer(credentials: { user: string; password: string }): Promise<MailServer> {
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    allowInsecureAuth: true,
    authMethods: ['PLAIN', 'LOGIN'],
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _session, callback) {
      const isRight = username === credentials.user && password === credentials.password;
      callback(isRight ? null : new Error('wrong credentials'), isRight ? { user: username } : undefined);
    },
    onRcptTo({ address }, _session, callback) {
      callback(own.refusedRecipients.has(address) ? new Error('no such mailbox') : null);
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', chunk => chunks.push(chunk));
      stream.on('end', () => {
        const { rcptTo, mailFrom } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        own.mails.push({ to: rcptTo.map(it => it.address), from, text: decodeMail(Buffer.concat(chunks).toString()) });
        for (const wake of waiting.splice(0)) wake();
        callback();
      });
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  let taken = 0;
  const own: MailServer = {
    url: `smtp://${credentials.user}:${encodeURIComponent(credentials.password)}@127.0.0.1:${port}`,
    mails: [],
    refusedRecipients: new Set(),
    async take() {
      while (own.mails.length <= taken) await new Promise<void>(resolve => waiting.push(resolve));
      return own.mails[taken++]!;
    },
    close: () => new Promise(resolve => server.close(() => resolve())),
  };
  return own;
}

/** Head and text of a mail, without the soft line breaks and escapes of quoted-printable (RFC 2045, 6.7). */
const decodeMail = (raw: string) =>
  raw
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
