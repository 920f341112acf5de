import { createElement, Fragment } from 'react';

/** Text with words in backticks, as texts of the server have them, in the face of code. */
export const MarkedText = ({ text }: { text: string }) =>
  createElement(
    Fragment,
    null,
    ...text
      .split('`')
      .map((part, place) => (place % 2 === 0 ? part : createElement('code', { className: 'font-mono' }, part))),
  );
