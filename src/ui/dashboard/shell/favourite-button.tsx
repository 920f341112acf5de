import { Star } from 'lucide-react';
import { IconButton } from '../../kit/button.tsx';
import { texts } from '../../texts/texts.ts';
import { usePreferences } from '../session/preferences.ts';
import type { objectPages } from './navigation.ts';

interface FavouriteButtonProps {
  readonly kind: keyof typeof objectPages;
  readonly id: string;
  readonly name: string;
}

/** Adds an object to the favourites, which are at the top of the navigation, or removes it. */
export function FavouriteButton({ kind, id, name }: FavouriteButtonProps) {
  const { preferences, change } = usePreferences();
  if (!preferences) return null;
  const others = preferences.favourites.filter(it => it.kind !== kind || it.id !== id);
  const isChosen = others.length < preferences.favourites.length;
  return (
    <IconButton
      icon={Star}
      label={isChosen ? texts.shell.removeFavourite : texts.shell.addFavourite}
      className={isChosen ? '[&>svg]:fill-current' : undefined}
      onClick={() => change({ favourites: isChosen ? others : [...others, { kind, id, name }] })}
    />
  );
}
