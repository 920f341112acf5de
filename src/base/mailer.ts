import type { Transporter } from 'nodemailer';
import { problems } from './problems.ts';

/** Outgoing mail over SMTP (RFC 5321). */
export interface Mailer {
  /** False without a server: nothing can be sent. */
  readonly isConfigured: boolean;
  send(mail: Mail): Promise<void>;
  close(): void;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  /** Generated if absent. */
  readonly messageId?: string | undefined;
}

/** Failure of a mail server. */
export interface MailError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/** Failure of the mail server, without its message: servers repeat the address in it. */
export const describeMailFailure = ({ message, code, command, responseCode }: MailError) =>
  command === undefined ? { reason: message } : { reason: code, command, status: responseCode };

/** The server refuses the recipient for good (RFC 5321, section 4.2.1). */
export const isRecipientRefused = ({ command = '', responseCode = 0 }: MailError): boolean =>
  command.startsWith('RCPT') && responseCode >= 550 && responseCode < 560;

export interface MailerOptions {
  /** `smtp://user:password@host:port`, or `smtps://…` for TLS from the start; empty for none. */
  readonly url: string;
  readonly from: string;
  /** Refuses a server on an `smtp:` URL that offers no STARTTLS. */
  readonly requireTls: boolean;
  readonly timeoutMs: number;
}

export const mailProblem = problems('mail', {
  url_invalid: {
    status: 400,
    message: 'mail.smtp_url must be smtp://user:password@host:port, or smtps:// for TLS from the start',
  },
  from_missing: { status: 400, message: 'mail.from must be the address that mails come from' },
  not_configured: { status: 409, message: 'There is no mail server: mail.smtp_url is not set' },
});

const defaultPorts: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

/** Creates the mailer; wrong settings are reported at the start. The library is loaded with the first mail. */
export function createMailer({ url, from, requireTls, timeoutMs }: MailerOptions): Mailer {
  const server = url === '' ? undefined : parseServer(url);
  if (server && !from.includes('@')) throw mailProblem.from_missing();
  let transporter: Transporter | undefined;

  async function open({ secure, auth, ...address }: ReturnType<typeof parseServer>): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      ...address,
      secure,
      requireTLS: !secure && requireTls,
      ...(auth && { auth }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  return {
    isConfigured: server !== undefined,
    async send(mail) {
      if (!server) throw mailProblem.not_configured();
      transporter ??= await open(server);
      await transporter.sendMail({ from, ...mail });
    },
    close: () => transporter?.close(),
  };
}

function parseServer(text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const defaultPort = defaultPorts[url?.protocol ?? ''];
  if (!url?.hostname || defaultPort === undefined || !/^\/?$/.test(url.pathname) || url.search + url.hash !== '')
    throw mailProblem.url_invalid();
  const auth = url.username && { user: decodeCredential(url.username), pass: decodeCredential(url.password) };
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    secure: url.protocol === 'smtps:',
    auth: auth || undefined,
  };
}

function decodeCredential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw mailProblem.url_invalid({ cause });
  }
}
