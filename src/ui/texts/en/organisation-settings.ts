/** Texts of what the operator set for an organisation. */
export const organisationSettingsTexts = {
  title: 'Limits, storage and mail',
  rate: 'Rate of all keys together',
  quota: 'Quota of all keys together',
  analytics: 'Usage and logged requests',
  audit: 'Audit records',
  history: 'Revisions',
  deliveries: 'Webhook deliveries',
  days: (count: string) => (count === '1' ? 'Stored for 1 day' : `Stored for ${count} days`),
  forever: 'Stored without an end',
  portal: 'Developer portal',
  noPortal: 'Not configured',
  mail: 'Mail server',
  noMail: 'Not configured: mail.smtp_url is not set',
  sendTest: 'Send a test mail to me',
  sent: (address: string) => `The mail server accepted the mail to ${address}`,
  about:
    'The operator sets these: the limits with the key of the organisation, the others with *.retention_days, portal.url and mail.*.',
} as const;
