#!/bin/sh
# project.sh PROBE WEIGHTS: makes projection.bin beside this script, of sentences of WordNet 3.0:
# all examples of four words or more, and every eighth definition of five or more. WEIGHTS is any
# encoder.bmw: what is before its projection counts. PROBE is bmad_encoder_probe.
#
# The texts come from Debian's package wordnet-base, under Princeton University's free licence
# (/usr/share/doc/wordnet-base/copyright); none of them is in the file, which holds sums over all.
set -eu
probe=$1
weights=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

data=/usr/share/wordnet
if [ ! -e "$data/data.verb" ]; then
  (cd "$folder" && apt-get -qq download wordnet-base && dpkg -x wordnet-base_*.deb .) || {
    echo "Debian's package wordnet-base is not here and can't be fetched" >&2
    exit 1
  }
  data=$folder/usr/share/wordnet
fi
for part in noun verb adj adv; do
  iconv -f latin1 -t utf-8 "$data/data.$part"
done >"$folder/lines"  # By itself: in a pipe its failure would be none.
# A line: numbers and words | definition; "example"; "example"
grep -v '^  ' "$folder/lines" | sed 's/.* | //; s/ *$//' | awk '{
    count = split($0, parts, "\"")
    for (at = 2; at <= count; at += 2)
      if (split(parts[at], words, " ") >= 4) print parts[at]
    sub(/; ".*/, "")
    if (split($0, words, " ") >= 5 && ++definitions % 8 == 0) print
  }' >"$folder/texts"
echo "$(wc -l <"$folder/texts") sentences"
"$probe" sentences "$weights" "$folder/texts" "$folder/sentences"
"$here/convert.py" --project "$folder/sentences" "$here/projection.bin"
