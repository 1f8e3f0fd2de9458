// stop_words.cpp - words that say how a sentence is built, not what it is about: articles,
// pronouns, prepositions, conjunctions, auxiliaries. For each language that has stems; what also
// names a thing (été, wezen) is left out where it can be.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "languages.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

// Each list is sorted by byte, because it is searched, and spelt as tokens are: σ at the end of a
// word, ss for ß, without the apostrophe in French, Italian and Catalan.

constexpr std::string_view kArabic =
    "أم أما أمام أن أنا أنت أنتم أنتن أنه أنها أو أولئك أي أيضا أين إذ إذا إلا إلى إليه "
    "إليها إما إن إنه إنها التي الذي الذين اللتان اللذان اللواتي بعد بعض بل بما به بها بهم "
    "بين تحت تكون تلك ثم حتى حول حيث خلال دون ذات ذلك سوف على عليه عليها عليهم عن عند عندما "
    "عنه عنها غير فإن فقد فقط فوق في فيما فيه فيها قبل قد كان كانت كانوا كذلك كل كلا كم كما "
    "كيف لا لقد لك لكن لكنه لم لما لماذا لن لنا له لها لهم لو لولا لي ليس ليست ليسوا ما ماذا "
    "متى مع معه معها مما ممن من منذ منه منها منهم نحن نحو نفسه نفسها هؤلاء هذا هذه هل هم هما "
    "هن هنا هناك هو هي و وفي وقد وكان ولا ولم ومن وهذا وهو وهي يا يكون";

constexpr std::string_view kArmenian =
    "ամեն այդ այն այնտեղ այս այստեղ առանց բայց բոլոր դա դեպի դու դուք դրա եթե եմ են ենք ես "
    "երբ եւ եք է էի էին էինք էիր էիք էլ էր ըստ թե իմ ինձ ինչ ինչու ինչպես ինքը իսկ իր իրենց "
    "լինել կամ համար հետ ձեզ ձեր մասին մեզ մենք մեջ մեր մի միայն մինչեւ մոտ նա նաեւ նրա նրան "
    "նրանց նրանք ոչ ով որ որը որոնք որպես որտեղ ու ուր չեմ չեն չէ պես պետք սա սրա վրա տակ "
    "քան քեզ քո";

constexpr std::string_view kBasque =
    "ala arte artean asko aurretik bada bai baina baldin bat batean batzuk berak beraz bere "
    "beren beste bezala da dago daude dena dira du dugu dut dute duzu edo egin egon ere eta "
    "ez gabe gara gehiago gu gure guzti haiek haien hain han haren hark hau hauek hemen hi "
    "hona honek honen honetan hor hori horiek horrek horren horretan hura izan izango nahiz "
    "naiz ni nintzen nire noiz nola non nor ondoren oso zara zarete zein zen zer zergatik "
    "ziren zu zuek zuen zure zuten";

constexpr std::string_view kCatalan =
    "a així això al allà allò als amb aquell aquella aquelles aquells aquest aquesta "
    "aquestes aquests aquí cada com d de del dels des doncs e el ella elles ells els em en "
    "ens entre era eren es estan estar estava estaven estem està et ets fins ha han has "
    "haver havia havien he hem heu hi ho i ja jo l la les li llur lo m me mentre meu meus "
    "meva meves mi molt molta moltes molts més n ni no nosaltres nostra nostre nostres o on "
    "pel pels per perquè però poc pot quan quant que qui quin quina quines quins què s sa "
    "sense ser ses seu seus seva seves si sigui sobre soc som son sota sou sí són t també "
    "tan tant te teu teus teva teves tot tota totes tots tu un una unes uns us va vaig van "
    "vosaltres vostra vostre vostres és";

constexpr std::string_view kDanish =
    "ad af alle at begge blev blive bliver både bør da de dem den denne dens der deres "
    "derfor det dets dette din dine disse dit dog du efter eller en end ens enten er et for "
    "fordi fra før haft ham han hans har havde have hendes her hos hun hvad hvem hverken "
    "hvilke hvilken hvilket hvis hvor hvordan hvorfor hvorledes hvornår i ikke ind ingen "
    "intet jeg jer jeres kan kun kunne man mange med meget mellem men mens mere mig min mine "
    "mit mod må måtte nogen noget nogle nu når og også om op os over på selv siden sig sin "
    "sine skal skulle som så sådan thi til ud uden under var ved vi vil ville vores være "
    "været";

constexpr std::string_view kDutch =
    "aan al alles als altijd andere ben bent bij binnen buiten daar dan dat de der deze die "
    "dit doch doen door dus een eens elk elke en ene er ge geen geweest haar had hadden heb "
    "hebben heeft hem hen het hier hij hoe hun ieder iedere iemand iets ik in indien is ja "
    "je jij jou jouw jullie kan kon kunnen maar mag me meer men met mij mijn moest moet "
    "moeten mogen na naar niet niets noch nog nu of om omdat onder ons onze ook op over "
    "sinds te tegen terwijl tijdens toch toen tot tussen u uit uw van veel voor waar waarom "
    "wanneer want waren was wat we welk welke werd werden wie wij wil wilde willen worden "
    "wordt zal ze zelf zelfs zich zij zijn zo zodat zonder zou zouden zullen";

constexpr std::string_view kFinnish =
    "ei eivät eli emme en ennen et ette että he heidän heidät heille heillä heitä hän "
    "hänelle hänellä hänen hänet häntä ilman ja jo johon joiden joita joka jolla jolle jonka "
    "jos jossa josta jota jotka jälkeen kanssa kenen ketkä koska kuin kuitenkin kuka kun me "
    "meidän meidät meille meillä meitä mihin miksi mikä milloin minkä minua minulla minulle "
    "minun minut minä missä mistä miten mitkä mitä mukaan mutta myös ne niiden niin niitä "
    "noiden noita nuo nyt näiden näitä nämä ole olemme olen olet olette oli olimme olin "
    "olisi olisivat olit olitte olivat olla ollut on ovat se sekä sen siellä siihen siinä "
    "siis siitä sille sillä sinua sinulla sinulle sinun sinut sinä sitten sitä tai te teidän "
    "teidät teille teillä teitä tuo tuolla tuon tuossa tuota tähän tälle tällä tämä tämän "
    "tässä tästä tätä täällä vaan vai vaikka vain vielä";

constexpr std::string_view kFrench =
    "a afin ai ainsi ait alors après as au aucun aucune aurait aussi autre autres aux "
    "avaient avais avait avant avec avez avoir avons car ce ceci cela celle celles celui ces "
    "cet cette ceux chaque chez comme comment contre d dans de depuis des doit doivent donc "
    "dont du dès déjà elle elles en encore entre es est et eu eux faire fait ici il ils j je "
    "jusqu jusque l la laquelle le lequel les lesquelles lesquels leur leurs lors lorsqu "
    "lorsque lui là m ma mais me mes moi moins mon même mêmes n ne ni non nos notre nous on "
    "ont or ou où par parce pas pendant peut peuvent plus pour pourquoi puisqu puisque qu "
    "quand que quel quelle quelles quels qui quoi s sa sans se selon sera serait seront ses "
    "si soi soient soit sommes son sont sous suis sur t ta te tes toi ton tous tout toute "
    "toutes trop très tu un une va vers vont vos votre vous y à ça étaient étais était "
    "étions êtes être";

constexpr std::string_view kGerman =
    "aber alle allem allen aller alles als also am an auch auf aus bei beim bevor bin bis "
    "bist da dabei dafür damit dann daran darauf daraus darf darin das dass davon dazu dein "
    "deine deinem deinen deiner deines dem den denn der des dich die diese diesem diesen "
    "dieser dieses dir doch dort du durch durfte dürfen ein eine einem einen einer eines "
    "einige einigen einiger einiges er es etwas euch euer eure eurem euren eurer eures für "
    "gegen gewesen habe haben habt hast hat hatte hatten hattest her hier hin hinter hätte "
    "hätten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in ins ist jede jedem "
    "jeden jeder jedes jedoch jene jenem jenen jener jenes kann kannst kein keine keinem "
    "keinen keiner keines konnte konnten können könnte könnten mag man manche manchen "
    "mancher manches mein meine meinem meinen meiner meines mich mir mit muss musst musste "
    "mussten möchte möchten müssen nach nachdem neben nicht nichts noch nur ob obwohl oder "
    "ohne schon sehr seid sein seine seinem seinen seiner seines seit selbst sich sie sind "
    "so solche solchen solcher solches soll sollen sollst sollte sollten sondern um und uns "
    "unser unsere unserem unseren unserer unseres unter vom von vor wann war waren warst "
    "wart warum was wegen weil weiter welche welchem welchen welcher welches wem wen wenn "
    "wer werde werden werdet weshalb wie wieso will willst wir wird wirst wo wollen wollte "
    "wollten worden wurde wurden während wäre wären würde würden zu zum zur zwar zwischen "
    "über";

constexpr std::string_view kGreek =
    "άλλα άλλο ένα έναν ένασ έξω έτσι έχει έχεισ έχετε έχουμε έχουν έχω έωσ ή ήμουν ήσουν "
    "ήταν αλλά αν αντί από ασ αυτά αυτέσ αυτή αυτήν αυτήσ αυτοί αυτού αυτούσ αυτό αυτόν "
    "αυτόσ αυτών για γιατί δεν εάν είμαι είμαστε είναι είσαι είστε είτε είχα είχαν είχε εγώ "
    "εδώ εκεί εκείνη εκείνο εκείνοσ εμένα εμείσ ενόσ ενώ επίσησ επειδή εσένα εσείσ εσύ η θα "
    "κάθε κάποιοσ κάτι κάτω και κατά μέσα μέχρι μία μασ με μετά μη μην μια μιασ μου μόνο να "
    "ναι ο οι οποία οποίεσ οποίο οποίοι οποίοσ ούτε πάνω παρά πιο ποια ποιεσ ποιο ποιοι "
    "ποιοσ πολύ που πού πριν προσ πωσ πότε πώσ σασ σε σου στα στη στην στησ στισ στο στον "
    "στου στουσ τα την τησ τι τισ το τον του τουσ των χωρίσ όλα όλη όλο όλοι όπωσ όσα όσο "
    "όσοι όταν ότι όχι ώστε";

constexpr std::string_view kHindi =
    "अगर अपना अपनी अपने अब आप आपका आपकी आपके इन इनका इनकी इनके इन्हें इस इसका इसकी इसके इसे "
    "उन उनका उनकी उनके उन्हें उस उसका उसकी उसके उसे एक एवं और कब कर करता करती करते करना करने "
    "कहाँ कहां का कि किए कितना किया किस किसी की कुछ के कैसे को कोई कौन क्या क्यों गई गए गया "
    "जब जहाँ जा जाता जाती जाते जिन जिस जिसके जिसे जो तक तथा तब तुम तुम्हारा तुम्हें तो था थी "
    "थे द्वारा न नहीं ने पर पहले बहुत बाद भी मुझे में मेरा मेरी मेरे मैं मैंने यदि यह यहाँ "
    "या ये रहा रही रहे लिए लेकिन वह वहाँ वे सकता सकती सकते सब सभी साथ से हम हमने हमारा हमारी "
    "हमारे हमें ही हुआ हुई हुए हूँ है हैं हो होता होती होते होना होने";

constexpr std::string_view kHungarian =
    "a abban abból ahogy ahol aki akik akkor alatt amely amelyek amelyet ami amikor amit "
    "amíg annak arra arról attól az azok azonban azt azzal azért be benne csak de ebben "
    "ebből egy el ellen előtt engem ennek erre erről ettől ez ezek ezt ezzel ezért fel felé "
    "fölött ha hanem hogy hogyan hol honnan hova hová hány ide illetve ilyen innen is itt "
    "kell kellett ki kinek kit között le legyen lehet lenne lennének lesz lesznek lett "
    "lettek maga magát majd meg mellett melyik mennyi mert mi miatt mikor milyen minden "
    "mindig minket mint mit mivel miért most már más még mögött nagyon neked nekem neki "
    "nekik nektek nekünk nem nincs nincsenek nélkül oda olyan onnan ott pedig sem semmi "
    "senki sincs szerint te tehát ti titeket téged ugyan után utána vagy vagyok vagyunk "
    "valaki valami valamint van vannak vele veled velem velük volna volt voltak által át én "
    "és így úgy ő ők őket őt";

constexpr std::string_view kIndonesian =
    "ada adalah agar akan aku anda antara apa apabila atau bagaimana bagi bahwa banyak "
    "beberapa begitu belum berapa bila bisa boleh bukan dalam dan dapat dari demikian dengan "
    "di dia hanya harus hingga ia ialah ingin ini itu jangan jika juga kalau kami kamu kapan "
    "karena ke kemudian kenapa kepada ketika kita lagi lalu lebih maka mana masih mau maupun "
    "melalui mengapa mereka mungkin namun nya oleh pada paling para pun saat saja sampai "
    "sana sangat saya sebagai sebelum sebuah secara sedang sedangkan sehingga sejak sekali "
    "semua seorang seperti serta sesudah setelah setiap siapa sini situ suatu sudah supaya "
    "tanpa tapi telah tentang terhadap tersebut tetapi tidak untuk yaitu yakni yang";

constexpr std::string_view kIrish =
    "a ach acu ag agaibh againn agam agat agus aici aige air am an ann anseo ansin ar as ba "
    "bheith bhur bhí cad cathain cathair chomh chuig chun conas cá cé cén de den di do dom "
    "don duit dá dár dó dóibh dúinn ea faoi faoin fhéin féin gach gan go gur i iad idir in "
    "ina inár is isteach le leat leis lena leo libh linn liom léi mar mo muid má mé na nach "
    "ná ní níl níor nó orainn orm ort orthu os sa san seisean seo siad sibh sin sinn siúd sé "
    "sí thú trí tríd tá táim tú uaidh uirthi um ár é ó ón";

constexpr std::string_view kItalian =
    "a abbia abbiamo affinché agli ai al all alla alle allo altra altre altri altro anche "
    "ancora anzi avere avete aveva avevano avevo avrebbe benché che chi ci ciò col come con "
    "contro così cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della "
    "delle dello deve devono di dopo dove dunque durante e ed egli ella era erano eravamo "
    "ero essa esse essere essi esso fra fu già gli ha hai hanno ho i il in io l la le lei lo "
    "loro lui là lì ma me meno mentre mi mia mie miei mio molta molte molti molto ne negli "
    "nei nel nell nella nelle nello noi non nostra nostre nostri nostro né o od ogni oppure "
    "per perché però più poiché possono prima può qua quale quali quando quanta quante "
    "quanti quanto quei quel quella quelle quelli quello questa queste questi questo qui "
    "quindi saranno sarebbe sarà se sei senza si sia siamo siano siete sono sopra sotto "
    "stata stati stato stessa stesso su sua sue sugli sui sul sull sulla sulle sullo suo "
    "suoi sé te ti tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno verso vi voi "
    "vostra vostre vostri vostro è";

constexpr std::string_view kLithuanian =
    "ant apie ar arba aš be bei bet bus buvo būti būtų dar daugiau dėl esame esate esi esu "
    "gali galima iki ir irgi iš jai jam jau jei jeigu ji jie jiems jis jo jos jums juos jus "
    "ją jį jūs jūsų jų kad kada kai kaip kam kas kiek kiekvienas kita kitas kiti ko kodėl "
    "kuo kur kuri kurie kurio kurios kuris kurią kurį ką labai man mane mano mes mums mus "
    "mūsų ne nebuvo nes nors nuo nėra o pagal pat pati pats per po prie prieš pro reikia sau "
    "save savo su ta tai taip tarp tas tau tave tavo tačiau ten tie tik to todėl tokia toks "
    "tos tu tą už virš vis visa visas visi visos yra čia į ši šie šio šios šis šią šį";

constexpr std::string_view kNepali =
    "अघि अनि अब आफ्नो उनले उनी एक कसरी कहाँ कहिले का किन की कुन के केही को गरी गरे गरेको "
    "गर्न गर्ने छ छन् छैन जुन जो तथा तपाईं तपाईंको तर ती त्यस त्यसको त्यो थिए थियो देखि न नै "
    "पछि पनि भएको भने भन्ने भयो म मा मेरो यस यसको यी यो र लाई लागि ले वा सँग संग सबै सम्म "
    "हामी हाम्रो हुने हुन् हुन्छ हो";

constexpr std::string_view kNorwegian =
    "alle at av bare begge ble bli blir blitt både da de deg dei deira dem den denne der "
    "dere deres det dette din disse ditt du dykk dykkar eg ein eit eitt eller elles en enn "
    "er et ett etter for fordi fra før ha hadde han hans har hennar henne hennes her hjå ho "
    "honom hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i ikke ikkje ingen "
    "ingi inkje inn inni ja jeg kan kom korleis korso kun kunne kva kvar kvarhelst kven kvi "
    "kvifor man mange me med medan meg meget mellom men mi min mine mitt mot mykje ned noe "
    "noen noka noko nokon nokor nokre nå når og også om opp oss over på samme seg selv si "
    "sidan siden sin sine sitt skal skulle slik so som somt så sånn til um upp ut uten var "
    "vart ved vere verte vi vil ville vore vors vort vår være vært å";

constexpr std::string_view kPortuguese =
    "a ainda algum alguma algumas alguns ali antes ao aos após aquela aquelas aquele aqueles "
    "aqui aquilo as até cada com como contra da das de dela delas dele deles depois desde "
    "deve devem do dos e ela elas ele eles em embora enquanto entre era eram essa essas esse "
    "esses esta estamos estar estas estava estavam este esteja estes esteve estou está estão "
    "eu foi fomos foram fosse fui haver havia houve há isso isto já lhe lhes lá mais mas me "
    "menos mesma mesmo meu meus mim minha minhas muita muitas muito muitos na nas nem no nos "
    "nossa nossas nosso nossos num numa não nós o onde os ou outra outras outro outros para "
    "pela pelas pelo pelos pode podem pois por porque porquê portanto porém pra quais qual "
    "quando quantas quanto quantos que quem se seja sejam sem ser seria será serão seu seus "
    "si sido sim sob sobre somos sou sua suas são só também te tem temos tenha tenho ter "
    "terá teu teus teve ti tinha tinham tiveram toda todas todo todos tu tua tuas têm um uma "
    "umas uns vai você vocês vos vão vós à àquela àquele às é éramos és";

constexpr std::string_view kRomanian =
    "a acea aceasta această aceea aceeași acei aceia acel acela același acele acelea acest "
    "acesta aceste acestea acestei acestor acestui acești aceștia acolo ai aia aici al ale "
    "am ar are as asta astfel asupra atunci atât au avea aveam avem aveți avut aș ca care ce "
    "cei cel cele celor cine cu cum când cât câte câtă câți că cărei căror cărui da dacă dar "
    "de deci deja deși din după e ea ei el ele era eram erau este eu ești fi fie fiecare fii "
    "fiind fost fără i iar la le li lor lui mai mea mei mele meu mi mie mine mult multe "
    "mulți mă ne nici nimic niște noastre noastră noi nostru nouă noștri nu o or ori oricare "
    "orice pe pentru peste poate pot prin până s sa sale sau se spre sub sunt suntem sunteți "
    "să săi său ta tale te toate toată tot totuși toți tu tăi tău un una unde unei unele "
    "uneori unii unor unui unul va vi voastră voi vom vor vostru vouă vreo vă îi îl îmi în "
    "într între își îți ăla ăsta ăștia și ție ții";

constexpr std::string_view kRussian =
    "а без более больше будем будет будто буду будут бы был была были было быть в вам вами "
    "вас ваш ваша ваше ваши вдруг ведь во вот впрочем все всегда всего всех всю всё вы где "
    "да даже два для до другой его ее ей ему если есть еще ещё её ж же за зачем здесь и из "
    "или им ими иногда их к как какая какие каким какой когда конечно которая которого "
    "которой которому которые который которым которых кто куда ли лучше между меня мне много "
    "мной мое может можно мои мой моя моё мы на над надо наконец нам нами нас наш наша наше "
    "наши не него нее ней нельзя нет неё ни нибудь никогда ним них ничего но ну о об один он "
    "она они опять от перед по под после потом потому почему почти при про раз разве с сам "
    "свое свои своих свой свою своя своё себе себя сейчас со та так также такой там твое "
    "твои твой твоя те тебя тем теми теперь тех то тобой тогда того тоже только том тому тот "
    "три тут ты у уж уже хоть чего чем через что чтоб чтобы чуть эта эти этим этими этих это "
    "этого этой этом этому этот эту я являются";

constexpr std::string_view kSerbian =
    "a ako ali bez bi bih bila bile bili bilo bio bismo biste biti da do ga gde i ih ili im "
    "ima imaju iz između ja je jer joj još ju kad kada kako kao ko kod koja koje kojeg koji "
    "kojih kojim kojima kojoj koliko kroz li me mene meni mi mogu moj moja moje može mu na "
    "nad nakon nam nama nas naš naša naše ne nego neka neki neko nešto ni nije nisam nismo "
    "nisu niti nje njega njegov njegova njegovo njemu njen njena njeno njih njihov njihova "
    "njima njoj nju o od on ona onaj one oni ono ova ovaj ovde ove ovi ovo pa po pod posle "
    "pre prema pri s sa sam samo sav se si smo ste su svaki sve svi svoj svoja svoje ta taj "
    "tako takođe tamo te tebe tebi ti tih tim to tom treba tu tvoj u vam vama vas vaš vaša "
    "vaše već vi za zašto zbog će ćemo ćete ćeš ću šta što а ако али без би била били било "
    "био бити вас ваш већ ви га где да до за зашто због и из између или им има их кад када "
    "како као ко код која које који којим којих кроз ли ме ми мој му на нас наш не него ни "
    "нису није о ова овај ово од он она они оно па по после пре према при с са сам само свој "
    "се си смо сте су та тако тај твој те ти то у шта што ја је јер још јој његов њен њихов "
    "ће ћу";

constexpr std::string_view kSpanish =
    "a ahí al algo alguna algunas alguno algunos algún allí ante antes aquel aquella "
    "aquellas aquello aquellos aquí así aunque aún bajo cada como con conmigo consigo "
    "contigo contra cual cuales cuando cuanto cuál cuáles cuándo cuánta cuántas cuánto "
    "cuántos cómo de debe deben del desde después donde durante dónde e el ella ellas ello "
    "ellos en entre era eran eras eres es esa esas ese eso esos esta estaba estaban estado "
    "estamos estar estas este esto estos estoy está están estás esté fue fueron fui fuimos "
    "ha haber habéis había habían hacia han has hasta hay haya he hemos hubo la las le les "
    "lo los me menos mi mientras mis misma mismas mismo mismos mucha muchas mucho muchos muy "
    "más mí mía mías mío míos ni no nos nosotras nosotros nuestra nuestras nuestro nuestros "
    "o os otra otras otro otros para pero poco por porque puede pueden pues que quien "
    "quienes quién quiénes qué se sea sean según ser será serán sería si sido siendo sin "
    "sino sobre sois solo somos son soy su sus suya suyas suyo suyos sí sólo también tampoco "
    "tan tanto te tenemos tener tengo tenía ti tiene tienen toda todas todo todos tras tu "
    "tus tuya tuyo tú u un una unas unos usted ustedes vosotras vosotros vuestra vuestras "
    "vuestro vuestros y ya yo él éramos ésa ése ésta éste";

constexpr std::string_view kSwedish =
    "alla allt antingen att av bara blev bli blir blivit både de dej dem den denna deras "
    "dess dessa det detta dig din dina ditt dom du där därför då efter eftersom ej eller en "
    "er era ert ett fick från får för genom ha hade han hans har henne hennes hon honom hos "
    "hur här i icke ingen innan inom inte jag ju kan kunde man med medan mej mellan men mer "
    "mest mig min mina mitt mot mycket många måste ni nu när någon något några och också om "
    "oss på redan samma sedan sej sig sin sina sitt själv ska skall skulle som så sådan "
    "sådana sådant till trots under upp ut utan vad var vara varför varit varje varken vars "
    "vart vem vi vid vilka vilkas vilken vilket vill ville vår våra vårt än ännu är åt över";

constexpr std::string_view kTamil =
    "அங்கு அது அந்த அல்லது அவன் அவர் அவர்கள் அவள் அவை ஆகும் ஆனால் இங்கு இது இந்த இருக்கும் "
    "இருந்து இல்லை இவர் இவை உள்ள உள்ளது எங்கே எந்த என எனக்கு என்ன என்னை என்பது என்ற என்று "
    "எப்படி எப்போது எல்லா ஏன் ஒரு கூட கொண்டு தான் நாங்கள் நான் நாம் நீ நீங்கள் பல பின் "
    "பின்னர் போது மற்றும் மிகவும் மீது முன் மூலம் மேலும் யார் வரை வேண்டும்";

constexpr std::string_view kTurkish =
    "ama ancak artık aynı ayrıca az bana bazı başka belki ben bende beni benim beri bir biri "
    "birkaç birçok biz bize bizi bizim bu buna bunda bundan bunlar bunu bunun burada böyle "
    "bütün da daha de değil diğer dolayı doğru en evet eğer fakat gibi göre hangi hangisi "
    "hatta hayır hem hep her hiç idi idim iken ile ise için kadar karşı kaç kendi kendisi ki "
    "kim kime kimin mi mu mü mı nasıl ne neden nerede nereden nereye niye niçin o olacak "
    "olan olarak oldu olduğu olduğunu olmak olması olsa olur ona onda ondan onlar onlara "
    "onları onların onu onun orada rağmen sadece sana sen seni senin siz size sizi sizin "
    "sonra tüm var ve veya ya yahut yalnız yine yok çok çünkü önce öyle üzere şey şimdi şu "
    "şuna şunlar şunu şunun şöyle";

constexpr std::string_view kYiddish =
    "א אבער אדער אויב אויך אויף און אונדז אונדזער אונטער אז איבער איז אייך איך אים אין איר "
    "אלע אן ביז ביי בין ביסט דא דאס דארט דו דורך די דיין דיך דעם דער האב האבן האט וואס וווּ "
    "ווי ווייל וועט וועלן ווען ווער זי זיי זיין זענען מיט מיין מיך מיר נאך נאר ניט נישט עס "
    "ער פאר פארוואס פון צו שוין";

constexpr std::string_view kEnglish =
    "a about above after again all also am an and any are aren't as at be because been "
    "before being below between both but by can can't cannot could couldn't did didn't do "
    "does doesn't doing don't down during each for from further had hadn't has hasn't have "
    "haven't having he he'd he'll her here hers herself him himself his how i i'd i'll i'm "
    "i've if in into is isn't it it'd it'll its itself just me might more most must mustn't "
    "my myself nor not of off on once only or other our ours ourselves out over own same "
    "shall she she'd she'll should shouldn't so some such than that the their theirs them "
    "themselves then there these they they'd they'll they're they've this those through to "
    "too under until up upon us very was wasn't we we'd we'll we're we've were weren't what "
    "when where whether which while who whom whose why will with won't would wouldn't you "
    "you'd you'll you're you've your yours yourself yourselves";

/// Where each word of `kList` begins, and where one behind the last would.
template <const std::string_view& kList>
constexpr auto kBegins = [] {
  std::array<std::uint16_t, std::ranges::count(kList, ' ') + 2> begins{};
  std::size_t begin = 0;
  for (std::uint16_t& each : begins) {
    each = static_cast<std::uint16_t>(begin);
    begin = std::min(kList.find(' ', begin), kList.size()) + 1;
  }
  begins.back() = static_cast<std::uint16_t>(kList.size() + 1);
  return begins;
}();

template <const std::string_view& kList>
constexpr StopWords words_of() {
  static_assert(kList.size() < UINT16_MAX);
  constexpr StopWords kWords(kList, kBegins<kList>);
  static_assert(kWords.is_sorted());
  return kWords;
}

struct StopWordRow {
  std::string_view language;
  StopWords words;
};

constexpr auto kStopWords = std::to_array<StopWordRow>({
    {"arabic", words_of<kArabic>()},         {"armenian", words_of<kArmenian>()},
    {"basque", words_of<kBasque>()},         {"catalan", words_of<kCatalan>()},
    {"danish", words_of<kDanish>()},         {"dutch", words_of<kDutch>()},
    {"english", words_of<kEnglish>()},       {"finnish", words_of<kFinnish>()},
    {"french", words_of<kFrench>()},         {"german", words_of<kGerman>()},
    {"greek", words_of<kGreek>()},           {"hindi", words_of<kHindi>()},
    {"hungarian", words_of<kHungarian>()},   {"indonesian", words_of<kIndonesian>()},
    {"irish", words_of<kIrish>()},           {"italian", words_of<kItalian>()},
    {"lithuanian", words_of<kLithuanian>()}, {"nepali", words_of<kNepali>()},
    {"norwegian", words_of<kNorwegian>()},   {"portuguese", words_of<kPortuguese>()},
    {"romanian", words_of<kRomanian>()},     {"russian", words_of<kRussian>()},
    {"serbian", words_of<kSerbian>()},       {"spanish", words_of<kSpanish>()},
    {"swedish", words_of<kSwedish>()},       {"tamil", words_of<kTamil>()},
    {"turkish", words_of<kTurkish>()},       {"yiddish", words_of<kYiddish>()},
});

}  // namespace

const StopWords& stop_words_of(std::string_view language) {
  static constexpr StopWords kNone;
  const auto* const row = std::ranges::find(kStopWords, language, &StopWordRow::language);
  return row == kStopWords.end() ? kNone : row->words;
}

}  // namespace bmad_mem
