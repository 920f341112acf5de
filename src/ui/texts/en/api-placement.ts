/** Texts of the template and the gateway tags of a new API, loaded with its form. */
export const apiPlacementTexts = {
  title: 'Template and gateway tags',
  template: 'Template',
  noTemplate: 'None',
  templateHelp: 'Its settings apply where this form has none; they are copied when the API is created.',
  tags: 'Gateway tags',
  tagsHelp: 'One on each line. Only gateways with one of them load the API; without any all do.',
  set: (count: number) => `${count} set`,
} as const;
