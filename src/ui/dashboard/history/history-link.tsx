import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import { texts } from '../../texts/texts.ts';
import type { RevisedObject } from './revised-kinds.ts';

/** Link to the history of an object. */
export const HistoryLink = ({ kind, id, name }: RevisedObject & { readonly name: string }) => (
  <Link to="/history/$kind/$objectId" params={{ kind, objectId: id }} search={{ name }} className={buttonClass()}>
    {texts.history.link}
  </Link>
);
