/** Texts of the dialog of notifications. */
export const notificationTexts = {
  about: 'What needs attention in the organisation. An entry disappears with its cause.',
  none: 'Nothing needs attention.',
  markRead: 'Mark as read',
  markAllRead: 'Mark all as read',
  topicsAbout: 'Notify me about',
  topics: {
    'api.not_served': 'APIs that are not served',
    'webhook.dead_letters': 'Webhooks with dead letters',
    'certificate.expiry': 'Certificates that expire',
  },
} as const;
