"""Sentences of the pages with a number that is a constant of the code, and where the code says so.

(page, text in the page, file or folder, text in one of its sources). Blanks count as one space. When one of
the two changes, the other has to: documents_test.py looks for both.
"""

CONSTANTS = [
    ("how-it-works.md", "in chunks of 256 KiB", "lib/store", "kChunkSize = 256U << 10U"),
    ("how-it-works.md", "if it was more than 50 ms old", "lib/search", "kTick = 50ms"),
    ("how-it-works.md", "or more than 2 s if it is a whole number", "lib/search", "kCoarseTick = 2s"),
    ("how-it-works.md", "Logs below 16 KiB are hashed at once", "lib/search", "kStampedSizeMin = 16U << 10U"),
    ("how-it-works.md", "for sessions beyond 4,096", "lib/store", "kFoldersMax = 4096"),
    ("how-it-works.md", "one for each core, at most 8", "lib/base", "kThreadsMax = 8"),
    ("how-it-works.md", "have 1,000 entries", "lib/store", "rebuild_threshold_writes = 1000"),
    ("how-it-works.md", "or 256 KiB", "lib/search", "kUnknownBytesMax = 256U << 10U"),
    ("how-it-works.md", "Above eight segments", "lib/search", "kSegmentsMax = 8"),
    ("how-it-works.md", "more than 64 MB without an index", "lib/search", "kHeldMax = 64U << 20U"),
    ("how-it-works.md", "16 MB at a time", "lib/search", "kSealBytesMax = 16U << 20U"),
    ("how-it-works.md", "each group of eight entries", "lib/search/query", "kSize = 8"),
    ("how-it-works.md", "blocks of 64 without a chance", "lib/search/query", "kBlock = 64"),
    ("how-it-works.md", "their 48 rarest terms", "lib/search/query", "kRankTermsMax = 48"),
    ("how-it-works.md", "have the weight 0.3", "lib/search/query", "kAskingWeight = 0.3"),
    ("how-it-works.md", "with the weight 0.5", "lib/search/query", "kSlipWeight = 0.5"),
    ("how-it-works.md", "up to three known words", "lib/search/query", "kSlipTermsMax = 3"),
    ("how-it-works.md", "up to 12 participants", "lib/search/query", "kFewParticipants = 12"),
    ("how-it-works.md", "1.0 · BM25(m) k1 0.9 b 0.4", "lib/search/query", "kEntryGrain{.k1 = 0.9, .b = 0.4}"),
    ("how-it-works.md", "1.0 · BM25(session of m) k1 1.2 b 0.75", "lib/search/query", "kContextGrain{.k1 = 1.2, .b = 0.75}"),
    ("how-it-works.md", "with k1 0.9 and b 0.6 for both", "lib/search/query", "kLoneGrain{.k1 = 0.9, .b = 0.6}"),
    ("how-it-works.md", "0.5; 0.5 without one", "lib/search/query", "kNeverAccessed = 0.5"),
    ("how-it-works.md", "is `e^(-0.05 · hours)`", "lib/search/query", "kRatePerHour = 0.05"),
    ("how-it-works.md", "times 1.3 for severity `critical`", "lib/model", "kSevereBoost = 1.3"),
    ("how-it-works.md", "times 1.2 with an approval", "lib/model", "kApprovedBoost = 1.2"),
    ("how-it-works.md", "the 64 nearest of all entries", "lib/search/query", "kNearest = 64"),
    ("how-it-works.md", "counts 0.3 of what it lacks", "lib/search/query", "kBelowMean = 0.3"),
    ("how-it-works.md", "12 k (1 + g)", "lib/search/query", "kMeaningWeight = 12"),
]
